import { readFile } from 'node:fs/promises';
import { CliError, EXIT } from './exit.ts';

/**
 * What a file of YAML or JSON holds.
 * @param what the object is, for the message
 * @throws CliError where it holds no object
 */
export async function readObject(file: string, what: string): Promise<object> {
  const given = await readYaml(file);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CliError(EXIT.usage, `${file}: must be an object${what}`);
  return given;
}

/** What a file of YAML or JSON holds, whatever it is. */
export async function readYaml(file: string): Promise<unknown> {
  // Only here: its many modules take longer to load than a command without a file takes.
  const { parse } = await import('yaml');
  return parse(await readFile(file, 'utf8'), { maxAliasCount: 0 });
}
