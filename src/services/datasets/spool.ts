import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { ApiError } from '../../domain/errors.ts';
import type { KeyedExample } from './insert-examples.ts';

const MAX_BATCH_BYTES = 1024 * 1024;
const MAX_BATCH_EXAMPLES = 1000;

/** Keeps examples on disk between their arrival and their transaction. */
export interface Spool {
  add(example: KeyedExample): Promise<void>;
  /** What was added, in order, in batches of a size that is good to insert. */
  batches(): AsyncGenerator<KeyedExample[], void, undefined>;
  close(): Promise<void>;
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

async function appendTo(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  try {
    await file.writev([bytes], position);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new ApiError('temporarily_unavailable', 'There is no room for an upload of this size right now.', {
      retryAfterSeconds: 60,
      cause: error,
    });
  }
}

/** Opens a file for this process alone that has no name any more: whatever ends the process, nothing stays. */
async function openNameless(): Promise<FileHandle> {
  const name = path.join(tmpdir(), `pms-upload-${randomUUID()}`);
  const file = await open(name, 'wx+', 0o600);
  await unlink(name);
  return file;
}

/** Opens a spool in the system's folder for temporary files (`TMPDIR`). */
export async function openSpool(): Promise<Spool> {
  const file = await openNameless();
  const sizes: number[] = [];
  let end = 0;
  let batch: KeyedExample[] = [];
  let batchBytes = 0;

  async function flush(): Promise<void> {
    if (batch.length === 0) return;
    const bytes = serialize(batch);
    batch = [];
    batchBytes = 0;
    await appendTo(file, bytes, end);
    sizes.push(bytes.length);
    end += bytes.length;
  }

  return {
    async add(example) {
      batch.push(example);
      batchBytes += example.variables.length + (example.expected?.length ?? 0) + (example.metadata?.length ?? 0);
      if (batchBytes >= MAX_BATCH_BYTES || batch.length >= MAX_BATCH_EXAMPLES) await flush();
    },
    async *batches() {
      await flush();
      let position = 0;
      for (const size of sizes) {
        const { buffer } = await file.read(Buffer.allocUnsafe(size), 0, size, position);
        position += size;
        const examples: KeyedExample[] = deserialize(buffer);
        yield examples;
      }
    },
    close: () => file.close(),
  };
}
