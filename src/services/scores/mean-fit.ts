import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import { SCORE } from '../../domain/analysis/check.ts';
import { releaseStates } from '../../domain/releases/release-states.ts';
import type { ScoreDataType, ScoreLimits } from '../../domain/scores/score.ts';

/** Why a check can't compare scores of a name: categories and texts have no mean. Undefined if it can. */
export function noMeanOf({ name, data_type: type }: { name: string; data_type: ScoreDataType }): string | undefined {
  if (type !== 'categorical' && type !== 'text') return undefined;
  const what = type === 'text' ? 'texts' : 'categories';
  return `scores named "${name}" are ${what}, which have no mean: name a score that is a number or a boolean`;
}

const UNFINISHED = releaseStates.states.filter((state) => !releaseStates.final.includes(state));

/** Whether a JSON column contains a check of one of these metrics, at any depth. */
const hasMetric = (column: string, metrics: readonly string[]): RawBuilder<SqlBool> =>
  sql`exists (select from jsonb_path_query(${sql.ref(column)}, '$.**.metric') as metric where metric #>> '{}' = any(${metrics}::text[]))`;

/**
 * Finds a check of the mean of scores that would have none: of a monitor, the policy of a label, or an unfinished release.
 * @param changed the new definitions of these names
 * @returns a description; undefined if there is none
 */
export async function unfitMeanOf(query: Query, changed: readonly ScoreLimits[]): Promise<string | undefined> {
  const byName = new Map(
    changed.filter((limits) => noMeanOf(limits) !== undefined).map((limits) => [limits.name, limits]),
  );
  if (byName.size === 0) return undefined;
  const metrics = [...byName.keys()].map((name) => `${SCORE}${name}`);
  const monitors = await query((db) =>
    db.selectFrom('monitors').select(['name', 'checks as held']).where(hasMetric('checks', metrics)).limit(1),
  );
  const policies = await query((db) =>
    db
      .selectFrom('label_policies')
      .select(['label as name', 'steps as held'])
      .where(hasMetric('steps', metrics))
      .limit(1),
  );
  const releases = await query((db) =>
    db
      .selectFrom('releases')
      .select(['label as name', 'steps as held'])
      .where(inStates(releaseStates, UNFINISHED))
      .where(hasMetric('steps', metrics))
      .limit(1),
  );
  const found = [
    ...monitors.map((row) => ({ ...row, kind: 'the monitor' })),
    ...policies.map((row) => ({ ...row, kind: 'the policy of the label' })),
    ...releases.map((row) => ({ ...row, kind: 'an unfinished release of the label' })),
  ][0];
  if (found === undefined) return undefined;
  const held = JSON.stringify(found.held);
  const limits = [...byName.values()].find(({ name }) => held.includes(`"${SCORE}${name}"`));
  return limits && `${found.kind} "${found.name}" checks the mean of these scores: ${noMeanOf(limits)}`;
}
