import { readFile } from 'node:fs/promises';
import { CliError, EXIT } from './exit.ts';
import { LongNumberError } from './long-numbers.ts';

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

/** What a file of YAML or JSON holds, whatever it is. @throws CliError where it is neither */
export async function readYaml(file: string): Promise<unknown> {
  // Only here: its many modules take longer to load than a command without a file takes.
  const { parseDocument } = await import('yaml');
  const { requireExactNumbers } = await import('./yaml-numbers.ts');
  const text = await readFile(file, 'utf8');
  try {
    const document = parseDocument(text, { prettyErrors: true, logLevel: 'error' });
    const [fault] = document.errors;
    if (fault !== undefined) throw fault;
    requireExactNumbers(document);
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof LongNumberError) throw new CliError(EXIT.usage, `${file}: ${error.message}`, { cause: error });
    // Behind its first line is the place in the file, drawn.
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new CliError(EXIT.usage, `${file}: not valid YAML or JSON: ${reason.replace(/:$/, '')}`, { cause: error });
  }
}
