import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ImportError } from '../importers/model.ts';
import { pathInside } from '../named-path.ts';

/** Writes a file of an export, and its folders. @throws CliError if it would be outside the folder */
export async function writeInside(folder: string, file: string, text: string): Promise<void> {
  const target = pathInside(folder, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, text);
}

/** Creates the folder of an export. @throws ImportError if it is not empty */
export async function requireEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Files of another export would seem to be part of this one.
  if ((await readdir(folder)).length > 0) throw new ImportError(`${folder}: is not empty: name a new folder`);
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
