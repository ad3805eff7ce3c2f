import type { Query } from '../../db/database.ts';
import { invalidField } from '../../domain/errors.ts';
import { contentBytes, contentOf, createExamplesHash, type Example } from '../../domain/evaluations/example.ts';
import { afterOthers } from '../../lib/event-loop.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { createExampleKeys } from './example-keys.ts';
import { insertRows, insertVersion, sizeOf, toRow } from './insert-examples.ts';

/** A stored set of examples. */
export interface StoredExamples {
  /** Id of the `dataset_versions` row. */
  examplesId: string;
  hash: Buffer;
  total: number;
}

/**
 * Stores the inline examples of an evaluation as a set without a dataset. Runs in the caller's transaction.
 * @throws ApiError `invalid_request` if an id is repeated, `quota_exceeded` before anything is written
 */
export async function storeExamples(
  query: Query,
  quotas: Pick<Quotas, 'check'>,
  examples: readonly Example[],
): Promise<StoredExamples> {
  const keys = createExampleKeys();
  const hash = createExamplesHash();
  const rows: string[] = [];
  let bytes = 0;
  let charsSincePause = 0;
  for (const [index, example] of examples.entries()) {
    const content = contentOf(example);
    const named = keys.keyOf(example.id, content, index);
    if ('usedAt' in named)
      throw invalidField(`examples.${index}.id`, `is the id of examples.${named.usedAt} too: "${example.id}"`);
    hash.add(named.key, content);
    bytes += contentBytes(content);
    const row = toRow(index, named.key, content);
    rows.push(row);
    charsSincePause += row.length;
    if (await afterOthers(charsSincePause)) charsSincePause = 0;
  }
  await quotas.check(query, 'datasetBytes', bytes);
  const digest = hash.digest();
  const examplesId = await insertVersion(query, rows.length, digest);
  await insertRows(query, examplesId, Buffer.from(`[${rows.join()}]`));
  await query((db) =>
    db
      .updateTable('dataset_versions')
      .set({ bytes: sizeOf(examplesId) })
      .where('id', '=', examplesId),
  );
  return { examplesId, hash: digest, total: rows.length };
}
