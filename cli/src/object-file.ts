import { readFile } from 'node:fs/promises';
import { CliError, EXIT } from './exit.ts';
import { LongNumberError } from './long-numbers.ts';

/**
 * The object in a YAML or JSON file.
 * @param what describes the object, for the message
 * @throws CliError if it contains no object
 */
export async function readObject(file: string, what: string): Promise<object> {
  const given = await readYaml(file);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CliError(EXIT.usage, `${file}: must be an object${what}`);
  return given;
}

/** Any value in a YAML or JSON file. @throws CliError if it is neither */
export async function readYaml(file: string): Promise<unknown> {
  // Imported here because its many modules are slow to load.
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
    // The lines after the first one show the location in the file.
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new CliError(EXIT.usage, `${file}: not valid YAML or JSON: ${reason.replace(/:$/, '')}`, { cause: error });
  }
}
