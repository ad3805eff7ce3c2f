import { setImmediate as nextTurn } from 'node:timers/promises';

/** From here on a step of work on a text, such as parsing it, may take many milliseconds. */
const LARGE = 64 * 1024;

/**
 * Lets everything else that waits have a turn, between two steps of work of which each may take a while.
 * @param size of the text worked on, in bytes or characters: for a small one nothing is done
 * @returns whether the others had a turn
 */
export async function afterOthers(size: number): Promise<boolean> {
  if (size <= LARGE) return false;
  await nextTurn();
  return true;
}
