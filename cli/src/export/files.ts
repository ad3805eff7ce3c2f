import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ImportError } from '../importers/model.ts';
import { pathInside } from '../named-path.ts';

/** Writes a file of an export, and its folders. @throws CliError where it would be outside of it */
export async function writeInside(folder: string, file: string, text: string): Promise<void> {
  const target = pathInside(folder, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, text);
}

/** Makes the folder of an export. @throws ImportError where it is not empty */
export async function requireEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // What is left of another export would be taken for a part of this one.
  if ((await readdir(folder)).length > 0) throw new ImportError(`${folder}: is not empty: name a new folder`);
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
