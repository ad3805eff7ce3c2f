import type { WorkspaceDatabase } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import {
  contentBytes,
  contentOf,
  createExamplesHash,
  type Example,
  type ExampleContent,
} from '../../domain/evaluations/example.ts';
import { createFairSemaphore } from '../../lib/fair-semaphore.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { addExamples, type DatasetChange, MAX_EXAMPLES } from './add-examples.ts';
import { attachVersion } from './attach-version.ts';
import type { DatasetRow } from './datasets.ts';
import { createExampleKeys } from './example-keys.ts';
import { insertRows, insertVersion, toRow } from './insert-examples.ts';
import { openSpool, type Spool } from './spool.ts';

/** The maximum size of an example as a line of JSON. */
export const MAX_EXAMPLE_BYTES = 1024 * 1024;

/** An example and the line of the upload that it starts on, from 1. */
export interface NumberedExample {
  line: number;
  example: Example;
}

export interface Upload {
  name: string;
  examples: AsyncIterable<NumberedExample>;
  /** Undefined: the dataset keeps its description. */
  description?: string | undefined;
  /** Whether the examples of the latest version are kept. */
  mode: 'add' | 'replace';
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
}

/** Has the counts if examples were added to those of the latest version. */
export type StoredUpload = { row: DatasetRow } & Partial<DatasetChange>;

/** Stores uploads. */
export interface Uploads {
  /**
   * Creates the next version of a dataset from the caller's upload, in one transaction.
   * @throws ApiError `invalid_request` naming the invalid line
   */
  store(db: WorkspaceDatabase, upload: Upload): Promise<StoredUpload>;
  /** Runs `work`, which copies the examples of a dataset, once few others, over all workspaces, do the same. */
  inTurn<T>(workspaceId: string, work: () => Promise<T>): Promise<T>;
}

/** 400 `invalid_request` about one line. */
export function invalidLine(line: number, path: string, message: string): ApiError {
  const where = path === '' ? `Line ${line}` : `Line ${line}: ${path}`;
  const details = [{ path: path === '' ? `lines.${line}` : `lines.${line}.${path}`, message }];
  return new ApiError('invalid_request', `${where}: ${message}`, { details });
}

/** The size of the example in bytes as a line of compact JSON, so that an export can be uploaded again. */
function lineBytes({ id }: Example, { variables, expected, metadata }: ExampleContent): number {
  let bytes = '{"variables":}'.length + Buffer.byteLength(variables);
  if (id !== undefined) bytes += '"id":,'.length + Buffer.byteLength(JSON.stringify(id));
  if (expected !== null) bytes += '"expected":,'.length + Buffer.byteLength(expected);
  if (metadata !== null) bytes += '"metadata":,'.length + Buffer.byteLength(metadata);
  return bytes;
}

/** The contents of an upload. */
interface Contents {
  total: number;
  /** Its minimum size in a dataset. */
  bytes: number;
  hash: Buffer;
}

async function receive(examples: Upload['examples'], spool: Spool): Promise<Contents> {
  const keys = createExampleKeys();
  const hash = createExamplesHash();
  let total = 0;
  let bytes = 0;
  for await (const { line, example } of examples) {
    if (total === MAX_EXAMPLES) throw invalidLine(line, '', `exceeds the limit of ${MAX_EXAMPLES} examples`);
    const content = contentOf(example);
    if (lineBytes(example, content) > MAX_EXAMPLE_BYTES)
      throw invalidLine(line, '', `takes more than ${MAX_EXAMPLE_BYTES} bytes as compact JSON`);
    const named = keys.keyOf(example.id, content, line);
    if ('usedAt' in named) throw invalidLine(line, 'id', `is the id of line ${named.usedAt} too: "${example.id}"`);
    hash.add(named.key, content);
    bytes += contentBytes(content);
    await spool.add(toRow(total, named.key, content));
    total += 1;
  }
  if (total === 0) throw new ApiError('invalid_request', 'The upload holds no examples: send at least one.');
  return { total, bytes, hash: hash.digest() };
}

/** Stops work for a caller that has disconnected. @throws ApiError `invalid_request` */
function requireCaller(signal: AbortSignal): void {
  if (signal.aborted) throw new ApiError('invalid_request', 'The caller disconnected before the upload was stored.');
}

async function insert(
  db: WorkspaceDatabase,
  quotas: Quotas,
  { name, description, mode, signal }: Upload,
  spool: Spool,
  { total, bytes, hash }: Contents,
): Promise<StoredUpload> {
  requireCaller(signal);
  // Rolled-back rows occupy disk space until they are vacuumed.
  await quotas.check(db.query, 'datasetBytes', bytes);
  return db.transaction(async (query) => {
    const examplesId = await insertVersion(query, total, hash);
    for await (const rows of spool.batches()) {
      requireCaller(signal);
      await insertRows(query, examplesId, rows);
    }
    const stored =
      mode === 'add'
        ? await addExamples(query, quotas, name, examplesId, { description })
        : { row: await attachVersion(query, quotas, name, { examplesId, total, hash, description }) };
    requireCaller(signal);
    return stored;
  });
}

/**
 * Uploads are checked and written to disk as they arrive, and only a complete one gets a connection and a transaction: slow
 * callers hold none, and an invalid line never reaches the database.
 * @param storing the number of concurrent transactions. A few are enough, since the database is the limit; a single workspace
 * gets half of them
 */
export function createUploads(quotas: Quotas, storing = 4): Uploads {
  const semaphore = createFairSemaphore({ total: storing });
  return {
    inTurn: (workspaceId, work) => semaphore.run(workspaceId, work),
    store: (db, upload) =>
      quotas.upload(db.workspaceId, async () => {
        await quotas.check(db.query, 'datasetBytes');
        const spool = await openSpool(2 * MAX_EXAMPLE_BYTES);
        try {
          const contents = await receive(upload.examples, spool);
          return await semaphore.run(db.workspaceId, () => insert(db, quotas, upload, spool, contents));
        } finally {
          await spool.close();
        }
      }),
  };
}
