import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { AdminError } from './errors.ts';

/**
 * Asks for a name again before something is done that can't be undone.
 * @throws AdminError where another was given, or none
 */
export async function confirmName(name: string): Promise<void> {
  process.stderr.write(`This deletes everything in the workspace ${name}, for good. Type its name to go on: `);
  const lines = createInterface({ input: process.stdin });
  const { value: typed } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  if (typed === name) return;
  throw new AdminError('Nothing was deleted: that is not its name. Type it, or pass --yes.');
}
