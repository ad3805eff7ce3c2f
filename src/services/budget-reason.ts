import { type SqlBool, sql } from 'kysely';

/** How the `status_reason` begins of what is paused since its `max_cost` is used up. */
const OUT_OF_BUDGET = 'of max_cost, ';

/** The `status_reason` of an evaluation or a backfill that is paused since its `max_cost` is used up. @param unit what costs, such as `example` */
export const outOfBudget = (unit: string) =>
  sql<string>`${sql.lit(OUT_OF_BUDGET)} || trim_scale(max_cost)
          || ${sql.lit(` USD, too little is left for another ${unit}: resume with a higher max_cost to continue`)}`;

/** A condition on a row with such a reason. */
export const isOutOfBudget = sql<SqlBool>`status_reason like ${sql.lit(`${OUT_OF_BUDGET}%`)}`;
