import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { asJson } from '../../db/statement.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { insertVersion } from './insert-examples.ts';
import {
  attachNext,
  copiedTo,
  countExamples,
  EXAMPLE_COLUMNS,
  type LatestVersion,
  lockLatest,
} from './next-version.ts';
import { MAX_EXAMPLE_BYTES } from './upload-examples.ts';

/** What an example will be from the next version on. */
export interface CorrectedExample {
  /** Identifies the example in every version. */
  key: string;
  variables: Record<string, JsonValue>;
  expected: JsonValue;
  metadata: Record<string, JsonValue>;
}

/** A correction is a part of a review and is not queued: larger datasets would keep others waiting for its connection. */
const MAX_CORRECTED_EXAMPLES = 20_000;
const MAX_CORRECTED_MIB = 64;

/** @throws ApiError `invalid_request` */
function requireSmall({ total, bytes }: LatestVersion): void {
  const tooMuch = (what: string) =>
    invalidField('correction.dataset', `has more than ${what}, which each correction would copy: use another dataset`);
  if (total > MAX_CORRECTED_EXAMPLES) throw tooMuch(`${MAX_CORRECTED_EXAMPLES} examples`);
  if (bytes > MAX_CORRECTED_MIB * 1024 ** 2) throw tooMuch(`${MAX_CORRECTED_MIB} MiB of examples`);
}

/**
 * Copies the examples of a set, except the one with the key, into another set.
 * @param gap whether its position stays free for another example; otherwise the later ones move up
 * @returns its position; undefined if there was none
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
          .select(copiedTo(to, sql<number>`case when seq > ${behind}::int then seq - 1 else seq end`))
          .where('dataset_version_id', '=', from)
          .where('example_key', '<>', key),
      ),
  );
  return place?.seq;
}

/**
 * Creates the next version of a dataset: the latest one with this example, at the position of the one with its key, otherwise at
 * the end. The first version of a new dataset contains only this example. Runs in the caller's transaction.
 * @returns the number of the version
 * @throws ApiError `invalid_request` if the dataset or the example is too large, `quota_exceeded`
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
  requireSmall(latest);
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
      // JSON's `null` here means that null is expected.
      expected: sql<JsonValue>`${JSON.stringify(expected)}::jsonb`,
      metadata: asJson(metadata),
    }),
  );
  return (await attachNext(query, quotas, name, examplesId, { latest })).version;
}

/**
 * Reverts a correction in another version: the example is as it was before the version with the correction, or removed if it did not exist.
 * Does nothing if the dataset was deleted, or the example has changed since or would be the only one. Runs in the caller's transaction.
 * @param corrected the version with the correction
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
  requireSmall(latest);
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
            .select(copiedTo(examplesId, sql<number>`${now.seq}::int`))
            .where('dataset_version_id', '=', before.examplesId)
            .where('example_key', '=', key),
        ),
    );
  await attachNext(query, quotas, name, examplesId, { latest });
}

/** An example of a version; `expected` as JSON text. */
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
