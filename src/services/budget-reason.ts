import { type SqlBool, sql } from 'kysely';

/** The start of the `status_reason` of a run that is paused because its `max_cost` is used up. */
const OUT_OF_BUDGET = 'of max_cost, ';

/**
 * The `status_reason` of an evaluation or a backfill that is paused because its `max_cost` is used up. @param unit what costs,
 * such as `example`
 */
export const outOfBudget = (unit: string) =>
  sql<string>`${sql.lit(OUT_OF_BUDGET)} || trim_scale(max_cost)
          || ${sql.lit(` USD, too little is left for another ${unit}: resume with a higher max_cost to continue`)}`;

/** A condition for rows with such a reason. */
export const isOutOfBudget = sql<SqlBool>`status_reason like ${sql.lit(`${OUT_OF_BUDGET}%`)}`;
