import { expressionBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError } from '../../domain/errors.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { type DatasetRow, getDataset } from './datasets.ts';
import { insertVersion } from './insert-examples.ts';
import { attachNext, copiedTo, EXAMPLE_COLUMNS, type LatestVersion, lockLatest, rangesOf } from './next-version.ts';

export const MAX_EXAMPLES = 1_000_000;

/** The result of a change to a dataset. */
export interface DatasetChange {
  /** The next version; the latest one if nothing changed. */
  row: DatasetRow;
  added: number;
  /** The number of existing examples whose content changed. */
  replaced: number;
  unchanged: number;
}

/** The examples `given` of a set, each with the example `old` of the same key in another set, if there is one. */
const withOld = (given: string, old: string) =>
  expressionBuilder<Tables>()
    .selectFrom('dataset_examples as given')
    .leftJoin('dataset_examples as old', (join) =>
      join.on('old.dataset_version_id', '=', old).onRef('old.example_key', '=', 'given.example_key'),
    )
    .where('given.dataset_version_id', '=', given);

async function compare(query: Query, given: string, old: string): Promise<Omit<DatasetChange, 'row'>> {
  const isNew = sql`old.seq is null`;
  const isOther = sql`(old.variables, old.expected, old.metadata) is distinct from (given.variables, given.expected, given.metadata)`;
  const [counts] = await query(() =>
    withOld(given, old).select([
      sql<number>`count(*) filter (where ${isNew})::int`.as('added'),
      sql<number>`count(*) filter (where not ${isNew} and ${isOther})::int`.as('replaced'),
      sql<number>`count(*) filter (where not ${isNew} and not ${isOther})::int`.as('unchanged'),
    ]),
  );
  return counts ?? { added: 0, replaced: 0, unchanged: 0 };
}

/** Copies both sets into another one: an example of `given` takes the position of the one with its key in `old`, or follows the others. */
async function merge(query: Query, given: string, { examplesId, total }: LatestVersion, to: string): Promise<void> {
  const old = examplesId ?? '';
  for (const { from, until } of rangesOf(total))
    await query((db) =>
      db
        .insertInto('dataset_examples')
        .columns(EXAMPLE_COLUMNS)
        .expression((eb) =>
          eb
            .selectFrom('dataset_examples as old')
            .select(copiedTo(to, sql<number>`seq`))
            .where('dataset_version_id', '=', old)
            .where('seq', '>=', from)
            .where('seq', '<', until)
            .where((eb) =>
              eb.not(
                eb.exists(
                  eb
                    .selectFrom('dataset_examples as given')
                    .select('given.seq')
                    .where('given.dataset_version_id', '=', given)
                    .whereRef('given.example_key', '=', 'old.example_key'),
                ),
              ),
            ),
        ),
    );
  const place = sql<number>`coalesce(old.seq, ${total}::int - 1 + count(*) filter (where old.seq is null) over (order by given.seq))`;
  await query((db) =>
    db
      .insertInto('dataset_examples')
      .columns(EXAMPLE_COLUMNS)
      .expression(
        withOld(given, old).select([
          sql<string>`${to}::uuid`.as('dataset_version_id'),
          place.as('seq'),
          'given.example_key',
          'given.variables',
          'given.expected',
          'given.metadata',
        ]),
      ),
  );
}

const deleteSet = (query: Query, examplesId: string) =>
  query((db) => db.deleteFrom('dataset_versions').where('id', '=', examplesId));

/**
 * Adds a set of examples to a dataset, in its next version: they replace the dataset's examples with the same keys, and the
 * others follow. Creates no version if nothing would change, and a new dataset if the name is unused. Runs in the caller's
 * transaction, whose connection stays busy until all examples are copied and read: the caller queues such calls.
 * @param given a set that belongs to no dataset; afterwards it is deleted or a part of the dataset
 * @param options `latest`: as `lockLatest` read it. `description`: of the dataset; undefined: unchanged
 * @throws ApiError `invalid_request` if there would be too many, `quota_exceeded`, `temporarily_unavailable`
 */
export async function addExamples(
  query: Query,
  quotas: Quotas,
  name: string,
  given: string,
  options: { latest?: LatestVersion | undefined; description?: string | undefined } = {},
): Promise<DatasetChange> {
  const { latest = await lockLatest(query, name), description } = options;
  if (latest.examplesId === undefined) {
    await quotas.check(query, 'datasetBytes');
    const row = await attachNext(query, quotas, name, given, { latest, description });
    return { row, added: row.examples_total, replaced: 0, unchanged: 0 };
  }
  const counts = await compare(query, given, latest.examplesId);
  if (counts.added + counts.replaced === 0 && description === undefined) {
    await deleteSet(query, given);
    return { row: await getDataset(query, name, latest.version), ...counts };
  }
  if (latest.total + counts.added > MAX_EXAMPLES)
    throw new ApiError(
      'invalid_request',
      `The dataset "${name}" would have ${latest.total + counts.added} examples: at most ${MAX_EXAMPLES} are allowed.`,
    );
  await quotas.check(query, 'datasetBytes', latest.bytes);
  const examplesId = await insertVersion(query, 0, Buffer.alloc(0));
  await merge(query, given, latest, examplesId);
  await deleteSet(query, given);
  return { row: await attachNext(query, quotas, name, examplesId, { latest, description }), ...counts };
}
