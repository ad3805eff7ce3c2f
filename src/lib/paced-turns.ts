import { setImmediate as nextRound } from 'node:timers/promises';
import { createFairSemaphore } from './fair-semaphore.ts';

/** A break is no longer than this, should a step have waited for something. */
const MAX_BREAK_MS = 1_000;

/** Turns at what keeps the event loop busy for long, such as a request of megabytes. */
export interface PacedTurns {
  /**
   * Waits for a turn: there is one at a time in the process, workspace by workspace. After each, there is a break as long as it took, so that
   * what others do with many short steps goes on meanwhile.
   * @returns ends the turn; more than once is fine
   * @throws the reason of `signal`
   */
  take(workspace: string, signal: AbortSignal): Promise<() => void>;
}

export function createPacedTurns(): PacedTurns {
  const turns = createFairSemaphore({ total: 1 });
  return {
    async take(workspace, signal) {
      const release = await turns.acquire(workspace, { signal });
      await nextRound();
      const began = performance.now();
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        setTimeout(release, Math.min(performance.now() - began, MAX_BREAK_MS));
      };
    },
  };
}
