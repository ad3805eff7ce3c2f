import { claim } from '../../db/claim.ts';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { isSampled } from '../../domain/rules/sampling.ts';

/**
 * Makes a settled trace due for the rules that score traces; their filters are checked when they score it. Replaces items of its earlier state,
 * except those whose scores are just being stored: the scores of the new ones replace these.
 * @param trace UUID
 */
export async function putInRules(query: Query, trace: string): Promise<void> {
  const rules = await query((db) =>
    db
      .selectFrom('rules')
      .select(['id', 'sample_rate'])
      .where('enabled', '=', true)
      .where('trace_filter', 'is not', null),
  );
  if (rules.length === 0) return;
  await query((db) =>
    db
      .deleteFrom('rule_items')
      .where('id', 'in', (eb) => eb.selectFrom('rule_items').select('id').where('trace_id', '=', trace).$call(claim())),
  );
  const due = rules.filter(({ id, sample_rate: rate }) => isSampled(id, trace, rate));
  if (due.length === 0) return;
  await query((db) =>
    db.insertInto('rule_items').values(due.map(({ id }) => ({ work_id: id, trace_id: trace, created_at: now }))),
  );
}
