import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { CountedTrace } from '../../db/entities/trace.ts';
import { asJson } from '../../db/statement.ts';

/**
 * Stores the numbers of a settled trace for which monitors and releases count it.
 * @param trace UUID
 * @returns these numbers, and those it was counted with until then; undefined if they are the same
 */
export async function countTrace(
  query: Query,
  trace: string,
): Promise<{ before: CountedTrace | null; now: CountedTrace } | undefined> {
  const [row] = await query((db) =>
    db
      .selectFrom('traces')
      .select(['counted', 'status', 'cost_amount', 'steps', 'prompts'])
      .select([
        sql<string>`to_json(${sql.ref('started_at')}) #>> '{}'`.as('started_at'),
        sql<string | null>`to_json(${sql.ref('ended_at')}) #>> '{}'`.as('ended_at'),
        sql<number>`${sql.ref('tokens_input')} + ${sql.ref('tokens_output')}`.as('tokens'),
      ])
      .where('id', '=', trace),
  );
  if (row === undefined) return undefined;
  const arms = await query((db) =>
    db
      .selectFrom('executions')
      .select(['release_id', 'release_stage as stage', 'release_arm as arm'])
      .distinct()
      .where('trace_id', '=', trace)
      .where('release_stage', 'is not', null)
      .orderBy(sql`1, 2, 3`),
  );
  const { counted: before, ...numbers } = row;
  const now: CountedTrace = {
    ...numbers,
    arms: arms.flatMap(({ release_id: id, stage, arm }) =>
      id === null || stage === null || arm === null ? [] : [{ release_id: id, stage, arm }],
    ),
  };
  if (isDeepStrictEqual(before, now)) return undefined;
  await query((db) =>
    db
      .updateTable('traces')
      .set({ counted: asJson(now) })
      .where('id', '=', trace),
  );
  return { before, now };
}
