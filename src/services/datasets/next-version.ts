import { type RawBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { temporarilyUnavailable } from '../../domain/errors.ts';
import { contentOf, createExamplesHash } from '../../domain/evaluations/example.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { attachVersion } from './attach-version.ts';
import type { DatasetRow } from './datasets.ts';
import { readAllExamples } from './read-examples.ts';

/** The number of examples that one statement copies, so that its time limit holds for datasets of any size. */
const COPIED_AT_ONCE = 25_000;

export const EXAMPLE_COLUMNS = [
  'dataset_version_id',
  'seq',
  'example_key',
  'variables',
  'expected',
  'metadata',
] as const;

export interface LatestVersion {
  examplesId: string | undefined;
  /** 0 if there is none. */
  version: number;
  /** The number of its examples. */
  total: number;
  /** The size of its examples. */
  bytes: number;
}

/** Reads the latest version and locks it until the transaction ends. */
export async function lockLatest(query: Query, name: string): Promise<LatestVersion> {
  // Concurrent requests that create a dataset run one after the other.
  await lockInWorkspace(query, `correction of ${name}`);
  const [dataset] = await query((db) =>
    db.selectFrom('datasets').select(['id', 'latest_version']).where('name', '=', name).forNoKeyUpdate(),
  );
  if (dataset === undefined) return { examplesId: undefined, version: 0, total: 0, bytes: 0 };
  const { id, latest_version: version } = dataset;
  const [latest] = await query((db) =>
    db
      .selectFrom('dataset_versions')
      .select(['id', 'examples_total as total', 'bytes'])
      .where('dataset_id', '=', id)
      .where('version', '=', version),
  );
  const { total = 0, bytes = 0 } = latest ?? {};
  return { examplesId: latest?.id, version, total, bytes };
}

/** The columns that are copied when examples go into another set, at another position. */
export const copiedTo = (examplesId: string, seq: RawBuilder<number>) =>
  [
    sql<string>`${examplesId}::uuid`.as('dataset_version_id'),
    seq.as('seq'),
    'example_key',
    'variables',
    'expected',
    'metadata',
  ] as const;

/** The ranges of `seq` in which the examples of a set are copied. */
export function* rangesOf(total: number): Generator<{ from: number; until: number }, void, undefined> {
  for (let from = 0; from < total; from += COPIED_AT_ONCE) yield { from, until: from + COPIED_AT_ONCE };
}

export async function countExamples(query: Query, examplesId: string): Promise<number> {
  const [row] = await query((db) =>
    db
      .selectFrom('dataset_examples')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('dataset_version_id', '=', examplesId),
  );
  return row?.count ?? 0;
}

/**
 * Makes a set of examples the next version of a dataset.
 * @param options `description`: of the dataset from now on; undefined: unchanged. `latest`: the version that it is based on, as
 * `lockLatest` read it; undefined: none. A new dataset has no row to lock, so an upload can create it in the meantime, and its
 * examples would be missing from this version
 * @throws ApiError `quota_exceeded`, `temporarily_unavailable` if another version was created since `latest` was read
 */
export async function attachNext(
  query: Query,
  quotas: Quotas,
  name: string,
  examplesId: string,
  { latest, description }: { latest?: LatestVersion | undefined; description?: string | undefined } = {},
): Promise<DatasetRow> {
  const total = await countExamples(query, examplesId);
  const hash = createExamplesHash();
  for await (const examples of readAllExamples(query, examplesId, total))
    for (const example of examples) hash.add(example.key, contentOf(example));
  const row = await attachVersion(query, quotas, name, { examplesId, total, hash: hash.digest(), description });
  if (latest !== undefined && row.version !== latest.version + 1)
    throw temporarilyUnavailable(`Another version of the dataset "${name}" was created in the meantime.`);
  return row;
}
