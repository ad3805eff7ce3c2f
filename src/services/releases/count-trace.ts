import type { Query } from '../../db/database.ts';
import type { CountedTrace } from '../../db/entities/trace.ts';

/** @param sign -1 subtracts a trace that was counted with these numbers */
function entriesOf({ arms, ...trace }: CountedTrace, sign: 1 | -1) {
  return arms.map(({ release_id, stage, arm }) => {
    const isOfBoth = arms.some((other) => other.release_id === release_id && other.arm !== arm);
    const ended = trace.ended_at === null ? null : Date.parse(trace.ended_at);
    return {
      release_id,
      stage,
      arm,
      sign,
      of_trace: isOfBoth ? ('both' as const) : ('one' as const),
      created_at: new Date(trace.started_at),
      failed: trace.status === 'error',
      fell_back: false,
      reused: false,
      latency_ms: isOfBoth || ended === null ? null : ended - Date.parse(trace.started_at),
      cost: isOfBoth || trace.cost_amount === null ? null : Number(trace.cost_amount),
      tokens: trace.tokens,
    };
  });
}

/**
 * Counts a settled trace for the releases that chose versions of its executions, by arm. Its earlier numbers are subtracted. A trace with
 * executions of both arms is only counted as such.
 */
export async function countForReleases(query: Query, before: CountedTrace | null, now: CountedTrace): Promise<void> {
  const entries = [...(before === null ? [] : entriesOf(before, -1)), ...entriesOf(now, 1)];
  if (entries.length > 0) await query((db) => db.insertInto('release_entries').values(entries));
}
