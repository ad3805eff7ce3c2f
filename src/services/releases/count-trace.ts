import type { Query } from '../../db/database.ts';

/**
 * Counts a trace that settles for the first time for the releases that chose versions of its executions, by arm. A trace with executions of both
 * arms is only counted as such.
 * @param trace UUID
 */
export async function countForReleases(query: Query, trace: string): Promise<void> {
  const arms = await query((db) =>
    db
      .selectFrom('executions')
      .select(['release_id', 'release_stage as stage', 'release_arm as arm'])
      .distinct()
      .where('trace_id', '=', trace)
      .where('release_stage', 'is not', null),
  );
  if (arms.length === 0) return;
  const [row] = await query((db) =>
    db
      .selectFrom('traces')
      .select(['started_at', 'ended_at', 'status', 'cost_amount', 'tokens_input', 'tokens_output'])
      .where('id', '=', trace),
  );
  if (row === undefined) return;
  const entries = arms.flatMap(({ release_id: releaseId, stage, arm }) => {
    if (releaseId === null || stage === null || arm === null) return [];
    const isOfBoth = arms.some((other) => other.release_id === releaseId && other.arm !== arm);
    return [
      {
        release_id: releaseId,
        stage,
        arm,
        of_trace: isOfBoth ? ('both' as const) : ('one' as const),
        created_at: row.started_at,
        failed: row.status === 'error',
        fell_back: false,
        reused: false,
        latency_ms: isOfBoth || row.ended_at === null ? null : row.ended_at.getTime() - row.started_at.getTime(),
        cost: isOfBoth || row.cost_amount === null ? null : Number(row.cost_amount),
        tokens: row.tokens_input + row.tokens_output,
      },
    ];
  });
  await query((db) => db.insertInto('release_entries').values(entries));
}
