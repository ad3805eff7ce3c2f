import type { Query } from '../../db/database.ts';
import { sumUpRun } from '../../services/evaluations/run/sum-up.ts';

const EVERY_MS = 60_000;
/** Summing up uses at most a twentieth of the time. */
const REST_FACTOR = 20;

/**
 * Keeps the sums of running runs up to date in their rows, for lists: once a minute, or less often if that is slow.
 * @param query across workspaces
 * @returns to be called about once a second for each run that this process works on
 */
export function createSumsKeeper(query: Query): (evaluationId: string) => void {
  const dueAt = new Map<string, number>();

  function begin(evaluationId: string): void {
    const longAgo = Date.now() - EVERY_MS;
    for (const [id, due] of dueAt) if (due < longAgo) dueAt.delete(id);
    dueAt.set(evaluationId, Date.now() + EVERY_MS);
  }

  async function sumUp(evaluationId: string): Promise<void> {
    const startedAt = Date.now();
    dueAt.set(evaluationId, Number.POSITIVE_INFINITY);
    // If the database is down, the next call retries.
    await sumUpRun(query, evaluationId, ['running', 'paused']).catch(() => {});
    dueAt.set(evaluationId, Date.now() + Math.max(EVERY_MS, REST_FACTOR * (Date.now() - startedAt)));
  }

  return (evaluationId) => {
    const due = dueAt.get(evaluationId);
    if (due === undefined) begin(evaluationId);
    else if (Date.now() >= due) void sumUp(evaluationId);
  };
}
