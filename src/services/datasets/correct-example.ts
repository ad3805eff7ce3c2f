import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { asJson } from '../../db/statement.ts';
import { ApiError, invalidField, temporarilyUnavailable } from '../../domain/errors.ts';
import { contentOf, createExamplesHash } from '../../domain/evaluations/example.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { attachVersion, type VersionContents } from './attach-version.ts';
import type { DatasetRow } from './datasets.ts';
import { insertVersion } from './insert-examples.ts';
import { readAllExamples } from './read-examples.ts';
import { MAX_EXAMPLE_BYTES } from './upload-examples.ts';

/** Examples of a dataset that a change of it copies at most. */
export const MAX_CORRECTED_EXAMPLES = 20_000;
const MAX_CORRECTED_MIB = 64;

const EXAMPLE_COLUMNS = ['dataset_version_id', 'seq', 'example_key', 'variables', 'expected', 'metadata'] as const;

/** What an example is to be from the next version on. */
export interface CorrectedExample {
  /** What it is known by in every version. */
  key: string;
  variables: Record<string, JsonValue>;
  expected: JsonValue;
  metadata: Record<string, JsonValue>;
}

export interface LatestVersion {
  examplesId: string | undefined;
  /** 0: there was none. */
  version: number;
  /** Of its examples. */
  bytes: number;
}

/** The latest version, which stays that until the transaction ends. */
export async function lockLatest(query: Query, name: string): Promise<LatestVersion> {
  // Of those who make a new dataset at once, one goes on.
  await lockInWorkspace(query, `correction of ${name}`);
  const [dataset] = await query((db) =>
    db.selectFrom('datasets').select(['id', 'latest_version']).where('name', '=', name).forNoKeyUpdate(),
  );
  if (dataset === undefined) return { examplesId: undefined, version: 0, bytes: 0 };
  const { id, latest_version: version } = dataset;
  const [latest] = await query((db) =>
    db
      .selectFrom('dataset_versions')
      .select(['id', 'examples_total as total', 'bytes'])
      .where('dataset_id', '=', id)
      .where('version', '=', version),
  );
  const { total = 0, bytes = 0 } = latest ?? {};
  const tooMuch = (what: string) =>
    invalidField('dataset', `has more than ${what}, all of which each change would copy: name another dataset`);
  if (total > MAX_CORRECTED_EXAMPLES) throw tooMuch(`${MAX_CORRECTED_EXAMPLES} examples`);
  if (bytes > MAX_CORRECTED_MIB * 1024 ** 2) throw tooMuch(`${MAX_CORRECTED_MIB} MiB of examples`);
  return { examplesId: latest?.id, version, bytes };
}

/** Copies all examples of a set into another one. @returns how many there are */
export async function copyExamples(query: Query, from: string, to: string): Promise<number> {
  const [copied] = await query((db) =>
    db
      .with('copied', (cte) =>
        cte
          .insertInto('dataset_examples')
          .columns(EXAMPLE_COLUMNS)
          .expression((eb) =>
            eb
              .selectFrom('dataset_examples')
              .select([
                sql<string>`${to}::uuid`.as('dataset_version_id'),
                'seq',
                'example_key',
                'variables',
                'expected',
                'metadata',
              ])
              .where('dataset_version_id', '=', from),
          )
          .returning('seq'),
      )
      .selectFrom('copied')
      .select((eb) => eb.fn.countAll<number>().as('total')),
  );
  return copied?.total ?? 0;
}

/**
 * Copies the examples of a set into another one, without the one of the key.
 * @param gap whether its place stays free for another one; else those behind it move up
 * @returns its place; undefined: it was not there
 */
async function copyOthers(
  query: Query,
  from: string,
  to: string,
  key: string,
  { gap }: { gap: boolean },
): Promise<number | undefined> {
  const [place] = await query((db) =>
    db
      .selectFrom('dataset_examples')
      .select('seq')
      .where('dataset_version_id', '=', from)
      .where('example_key', '=', key),
  );
  const behind = gap || place === undefined ? null : place.seq;
  await query((db) =>
    db
      .insertInto('dataset_examples')
      .columns(EXAMPLE_COLUMNS)
      .expression((eb) =>
        eb
          .selectFrom('dataset_examples')
          .select([
            sql<string>`${to}::uuid`.as('dataset_version_id'),
            sql<number>`case when seq > ${behind}::int then seq - 1 else seq end`.as('seq'),
            'example_key',
            'variables',
            'expected',
            'metadata',
          ])
          .where('dataset_version_id', '=', from)
          .where('example_key', '<>', key),
      ),
  );
  return place?.seq;
}

async function countExamples(query: Query, examplesId: string): Promise<number> {
  const [row] = await query((db) =>
    db
      .selectFrom('dataset_examples')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('dataset_version_id', '=', examplesId),
  );
  return row?.count ?? 0;
}

/** Makes a set of examples the version after the one that was latest. @returns its number */
async function attach(
  query: Query,
  quotas: Quotas,
  name: string,
  examplesId: string,
  latest: LatestVersion,
): Promise<number> {
  const total = await countExamples(query, examplesId);
  const hash = createExamplesHash();
  for await (const examples of readAllExamples(query, examplesId, total))
    for (const example of examples) hash.add(example.key, contentOf(example));
  return (await attachAfter(query, quotas, name, { examplesId, total, hash: hash.digest() }, latest)).version;
}

/**
 * The same for a set whose hash is known. A new dataset has no row to lock, so an upload can make it in the meantime: its examples would not be in
 * this version.
 * @throws ApiError `temporarily_unavailable` if another version was made since `latest` was read
 */
export async function attachAfter(
  query: Query,
  quotas: Quotas,
  name: string,
  contents: VersionContents,
  latest: LatestVersion,
): Promise<DatasetRow> {
  const row = await attachVersion(query, quotas, name, contents);
  if (row.version !== latest.version + 1)
    throw temporarilyUnavailable(`Another version of the dataset "${name}" was created in the meantime.`);
  return row;
}

/**
 * Makes the next version of a dataset: the latest one with this example, in the place of the one of its key, else at the end. The first
 * version of a new dataset has this one alone. Runs in the caller's transaction.
 * @returns the number of the version
 * @throws ApiError `invalid_request` where the dataset or the example is too large, `quota_exceeded`
 */
export async function correctExample(
  query: Query,
  quotas: Quotas,
  name: string,
  { key, variables, expected, metadata }: CorrectedExample,
): Promise<number> {
  const bytes = Buffer.byteLength(JSON.stringify({ id: key, variables, expected, metadata }));
  if (bytes > MAX_EXAMPLE_BYTES)
    throw new ApiError('invalid_request', `The example would take more than ${MAX_EXAMPLE_BYTES} bytes as JSON.`);
  const latest = await lockLatest(query, name);
  await quotas.check(query, 'datasetBytes', latest.bytes);
  const examplesId = await insertVersion(query, 0, Buffer.alloc(0));
  const place =
    latest.examplesId === undefined
      ? undefined
      : await copyOthers(query, latest.examplesId, examplesId, key, { gap: true });
  const seq = place ?? (await countExamples(query, examplesId));
  await query((db) =>
    db.insertInto('dataset_examples').values({
      dataset_version_id: examplesId,
      seq,
      example_key: key,
      variables: asJson(variables),
      // `null` is JSON's here: that is expected.
      expected: sql<JsonValue>`${JSON.stringify(expected)}::jsonb`,
      metadata: asJson(metadata),
    }),
  );
  return attach(query, quotas, name, examplesId, latest);
}

/**
 * Takes a correction back by another version: the example is again as it was before the version that brought it, and not there where it was
 * not. Nothing is done where the dataset is gone, the example has been changed since, or would be the only one. Runs in the caller's transaction.
 * @param corrected the version that brought the correction
 */
export async function withdrawCorrection(
  query: Query,
  quotas: Quotas,
  name: string,
  key: string,
  corrected: number,
): Promise<void> {
  const latest = await lockLatest(query, name);
  if (latest.examplesId === undefined) return;
  const [now, then, before] = [
    await findExample(query, name, latest.version, key),
    await findExample(query, name, corrected, key),
    await findExample(query, name, corrected - 1, key),
  ];
  if (now === undefined || then === undefined || now.expected !== then.expected) return;
  const total = await countExamples(query, latest.examplesId);
  if (before === undefined && total === 1) return;
  await quotas.check(query, 'datasetBytes', latest.bytes);
  const examplesId = await insertVersion(query, 0, Buffer.alloc(0));
  await copyOthers(query, latest.examplesId, examplesId, key, { gap: before !== undefined });
  if (before !== undefined)
    await query((db) =>
      db
        .insertInto('dataset_examples')
        .columns(EXAMPLE_COLUMNS)
        .expression((eb) =>
          eb
            .selectFrom('dataset_examples')
            .select([
              sql<string>`${examplesId}::uuid`.as('dataset_version_id'),
              sql<number>`${now.seq}::int`.as('seq'),
              'example_key',
              'variables',
              'expected',
              'metadata',
            ])
            .where('dataset_version_id', '=', before.examplesId)
            .where('example_key', '=', key),
        ),
    );
  await attach(query, quotas, name, examplesId, latest);
}

/** An example of a version; `expected` as the text of its JSON. */
async function findExample(query: Query, name: string, version: number, key: string) {
  const [found] = await query((db) =>
    db
      .selectFrom('datasets as d')
      .innerJoin('dataset_versions as v', 'v.dataset_id', 'd.id')
      .innerJoin('dataset_examples as e', 'e.dataset_version_id', 'v.id')
      .select(['v.id as examplesId', 'e.seq', sql<string | null>`e.expected::text`.as('expected')])
      .where('d.name', '=', name)
      .where('v.version', '=', version)
      .where('e.example_key', '=', key),
  );
  return found;
}
