import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  BatchedCall,
  BatchedModels,
  BatchFile,
  BatchRef,
  BatchResult,
  BatchState,
} from '../../src/models/batches/batched-models.ts';
import { waitFor } from './wait-for.ts';

const never = new AbortController().signal;

/** For models without batches: every use throws. */
export const noBatches = new Proxy({} as BatchedModels, {
  get: (_, name) => () => {
    throw new Error(`No batches here: ${String(name)}.`);
  },
});

/** A temporary directory for files of batches. */
export async function batchDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'batch-'));
  const at = (name: string) => join(path, name);
  return {
    at,
    async write(name: string, text: string): Promise<string> {
      await writeFile(at(name), text);
      return at(name);
    },
    read: (name: string) => readFile(at(name), 'utf8'),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
export type BatchDirectory = Awaited<ReturnType<typeof batchDirectory>>;

/** A file with these calls. */
export async function batchFile(
  directory: BatchDirectory,
  batches: BatchedModels,
  ref: BatchRef,
  calls: BatchedCall[],
): Promise<BatchFile> {
  const lines = await Promise.all(calls.map((call, seq) => batches.toLine(call, batches.customIdOf(ref, seq))));
  const path = await directory.write(`${ref.tag}.jsonl`, lines.map(({ text }) => text).join(''));
  return { path, bytes: (await stat(path)).size, items: calls.length };
}

/** A batch once the provider has ended it. */
export function ended(batches: BatchedModels, ref: BatchRef, id: string): Promise<BatchState> {
  return waitFor('the end of the batch', async () => {
    const state = await batches.read(ref, id, never);
    return state.status === 'in_progress' ? undefined : state;
  });
}

/** All results of a batch. */
export async function resultsOf(batches: BatchedModels, ref: BatchRef, state: BatchState): Promise<BatchResult[]> {
  return Array.fromAsync(batches.results(ref, state, never));
}
