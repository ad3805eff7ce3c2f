import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ApiError } from '../../domain/errors.ts';

/** A batch ends with the row that reaches this size. */
const BATCH_BYTES = 64 * 1024;

/** Stores rows on disk between their arrival and their transaction. */
export interface Spool {
  /** @param row a JSON value */
  add(row: string): Promise<void>;
  /** The rows in order, as JSON arrays of a suitable size for one insert. Each is valid until the next is requested. */
  batches(): AsyncGenerator<Buffer, void, undefined>;
  close(): Promise<void>;
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  try {
    for (let written = 0; written < bytes.length; )
      written += (await file.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new ApiError('temporarily_unavailable', 'There is no disk space for an upload of this size right now.', {
      retryAfterSeconds: 60,
      cause: error,
    });
  }
}

/** Opens a file and unlinks it, so that nothing is left behind however the process ends. */
async function openNameless(): Promise<FileHandle> {
  const name = path.join(tmpdir(), `pms-upload-${randomUUID()}`);
  const file = await open(name, 'wx+', 0o600);
  await unlink(name);
  return file;
}

/**
 * Opens a spool in the system's temporary folder (`TMPDIR`). It collects a batch in one buffer; rows kept as strings would grow
 * the heap by more than the size of the upload.
 * @param maxRowBytes the maximum size of a row
 */
export async function openSpool(maxRowBytes: number): Promise<Spool> {
  const buffer = Buffer.allocUnsafeSlow(BATCH_BYTES + maxRowBytes + '[]'.length);
  const file = await openNameless();
  const sizes: number[] = [];
  let end = 0;
  let begun = 0;

  async function flush(): Promise<void> {
    if (begun === 0) return;
    begun += buffer.write(']', begun);
    await writeAll(file, buffer.subarray(0, begun), end);
    sizes.push(begun);
    end += begun;
    begun = 0;
  }

  return {
    async add(row) {
      begun += buffer.write(begun === 0 ? '[' : ',', begun);
      begun += buffer.write(row, begun);
      if (begun >= BATCH_BYTES) await flush();
    },
    async *batches() {
      await flush();
      let position = 0;
      for (const size of sizes) {
        const { bytesRead } = await file.read(buffer, 0, size, position);
        if (bytesRead !== size) throw new Error('A spooled batch is cut short.');
        position += size;
        yield buffer.subarray(0, size);
      }
    },
    close: () => file.close(),
  };
}
