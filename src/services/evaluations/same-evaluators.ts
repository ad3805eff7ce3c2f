import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Tables } from '../../db/tables.ts';

/**
 * Evaluators in a fixed order: names are unique within a run. Containment would not work, because it ignores the order of lists
 * within options.
 */
const byName = (evaluators: string) =>
  sql`(select jsonb_agg(each order by each->>'name') from jsonb_array_elements(${sql.ref(evaluators)}) as each)`;

/** Whether two runs score examples by the same evaluators in the same way. @param a @param b their tables in the statement */
export const hasSameEvaluators = (a: string, b: string) =>
  sql<boolean>`(${byName(`${a}.evaluators`)} = ${byName(`${b}.evaluators`)}
    and ${sql.ref(`${a}.example_threshold`)} is not distinct from ${sql.ref(`${b}.example_threshold`)})`;

/**
 * Whether version 1.0 compared a run with one of other evaluators by the stored scores, which makes its marks and counts wrong.
 * The sums of later versions count the examples without a score.
 * @param run its table in the statement
 */
export const isMiscompared = (run: 'e' | 'evaluations'): Expression<SqlBool> =>
  sql<SqlBool>`(not coalesce(${sql.ref(`${run}.summary`)} ? 'unscored', true) and exists ${expressionBuilder<Tables>()
    .selectFrom('evaluations as b')
    .select('b.id')
    .where(sql<SqlBool>`b.id = ${sql.ref(`${run}.baseline_id`)}`)
    .where(sql<SqlBool>`not ${hasSameEvaluators('b', run)}`)})`;
