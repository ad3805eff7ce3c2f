import { safeText } from './context.ts';
import { CliError, EXIT } from './exit.ts';
import { readObject } from './object-file.ts';

/**
 * A definition stored under a name by `PUT`: its body and the name. Nothing else is validated here.
 * @param file YAML or JSON
 * @throws CliError if it contains no object or no name
 */
export async function readDefinition<Body>(file: string): Promise<{ name: string; body: Body }> {
  const { name, ...body } = (await readObject(file, ': a name and a definition')) as { name?: unknown };
  if (typeof name !== 'string' || name === '')
    throw new CliError(EXIT.usage, `${file}: name is required and must be a string`);
  return { name, body: body as Body };
}

/**
 * A definition as YAML for {@link readDefinition}, with additional information as comments. Null fields are defaults and left out.
 */
export async function definitionText(definition: object, comments: string[]): Promise<string> {
  const { stringify } = await import('yaml');
  const set = Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== null));
  const notes = comments.map((comment) => `# ${safeText(comment).replaceAll('\n', ' ')}\n`);
  return `${stringify(set)}${notes.join('')}`;
}
