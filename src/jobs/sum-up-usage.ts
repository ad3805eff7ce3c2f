import { sql } from 'kysely';
import { claim } from '../db/claim.ts';
import type { SystemDatabase } from '../db/database.ts';
import type { UsageUnit } from '../db/entities/usage.ts';
import type { Builder } from '../db/statement.ts';
import { ENTRIES_AT_ONCE, raised, takeAll } from '../db/sums.ts';
import { USAGE_MEASURES } from '../db/usage-triggers.ts';
import type { OnUsed } from '../services/operations/spend-metrics.ts';

/** How long entries are kept after the creation of their subjects, so that times of the last hours are exact. */
const ENTRIES_KEPT_HOURS = 3;

const SUM_KEY = ['workspace_id', 'unit', 'starts_at', 'kind', 'prompt_name', 'model'] as const;

const total = (measure: string) => sql<number>`sum(${sql.ref(measure)})::float8`;

/**
 * Adds entries to the sums. Each entry is taken by one process and marked in the same statement.
 * @returns the usage added, by kind and provider
 */
const sumUp = (db: Builder) =>
  db
    .with('taken', (cte) =>
      cte
        .updateTable('usage_entries')
        .set({ summed: true })
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('usage_entries')
            .select('id')
            .where(eb.not(eb.ref('summed')))
            .$call(claim(ENTRIES_AT_ONCE)),
        )
        .returningAll(),
    )
    .with('added', (cte) =>
      cte
        .insertInto('usage_sums')
        .columns([...SUM_KEY, ...USAGE_MEASURES])
        .expression(
          cte
            .selectFrom('taken')
            .crossJoin(sql<{ unit: UsageUnit }>`(values ('hour'), ('day'))`.as<'units'>(sql`units(unit)`))
            .select(['workspace_id', 'unit', sql<Date>`date_trunc(unit, created_at, 'UTC')`.as('starts_at')])
            .select(['kind', 'prompt_name', 'model'])
            .select((eb) => USAGE_MEASURES.map((measure) => eb.fn.sum(measure).as(measure)))
            .groupBy(SUM_KEY.map((_, index) => sql.lit(index + 1)))
            .orderBy(sql`1, 2, 3, 4, 5, 6`),
        )
        .onConflict((conflict) => conflict.columns(SUM_KEY).doUpdateSet(raised('usage_sums', USAGE_MEASURES))),
    )
    .selectFrom('taken')
    .select(['kind', sql<string>`split_part(model, '/', 1)`.as('provider'), sql<number>`count(*)::int`.as('count')])
    .select([total('cost_amount').as('cost'), total('unpriced').as('unpriced')])
    .select([total('tokens_input').as('tokensInput'), total('tokens_output').as('tokensOutput')])
    .groupBy(sql`1, 2`);

const deleteSummed = (db: Builder) =>
  db
    .with('gone', (cte) =>
      cte
        .deleteFrom('usage_entries')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('usage_entries')
            .select('id')
            .where((eb) => eb.ref('summed'))
            .where('created_at', '<', sql<Date>`now() - make_interval(hours => ${ENTRIES_KEPT_HOURS})`)
            .$call(claim(ENTRIES_AT_ONCE)),
        )
        .returning('id'),
    )
    .selectFrom('gone')
    .select(sql<number>`count(*)::int`.as('count'));

/**
 * Adds new entries of usage to the sums and deletes old ones. Safe to run in several processes at once.
 * @param onUsed called with the usage added
 */
export async function sumUpUsage({ query }: SystemDatabase, onUsed?: OnUsed): Promise<void> {
  await takeAll(async () => {
    const used = await query(sumUp);
    onUsed?.(used);
    return used;
  });
  await takeAll(() => query(deleteSummed));
}
