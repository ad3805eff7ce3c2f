import process from 'node:process';
import { createInterface } from 'node:readline/promises';
import { AdminError } from './errors.ts';

/**
 * Asks the user to type the name of a workspace before it is deleted.
 * @throws AdminError for another name, or none
 */
export async function confirmName(name: string): Promise<void> {
  process.stderr.write(`This permanently deletes everything in the workspace ${name}. Type its name to continue: `);
  const lines = createInterface({ input: process.stdin });
  const { value: typed } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  if (typed === name) return;
  throw new AdminError('Nothing was deleted: the name does not match. Type it, or pass --yes.');
}
