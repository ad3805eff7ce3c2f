import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../errors.ts';
import { type FileLock, waitForLock } from '../file-lock.ts';

/** A source of a program. */
export interface Source {
  /** Completes the sentence "Temporal from …". */
  name: string;
  /** The program's path. @throws with the reason why this source has none, as a sentence without a full stop. */
  find(): Promise<string>;
}

/** No source had the program; lists each reason in the order tried. */
export class NoSourceError extends Error {
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join('; '));
    this.name = 'NoSourceError';
    this.reasons = reasons;
  }
}

/**
 * The program from the first source that has it. Reports a line for each source on why it was used or skipped.
 *
 * @throws {NoSourceError} if none has it.
 */
export async function firstSource(
  what: string,
  sources: readonly Source[],
  report: (line: string) => void,
): Promise<string> {
  const reasons: string[] = [];
  for (const source of sources) {
    try {
      const found = await source.find();
      report(`${what} from ${source.name}: ${found}`);
      return found;
    } catch (error) {
      const reason = `not from ${source.name}: ${messageOf(error)}`;
      reasons.push(reason);
      report(`${what} ${reason}.`);
    }
  }
  throw new NoSourceError(reasons);
}

/**
 * Fills `folder` once: `fill` works in a scratch folder next to it, which is then renamed, so that it is never seen half
 * full, however this process ends. A second process waits for the first and uses its result.
 */
export async function fillOnce(options: {
  folder: string;
  /** Whether the folder is complete. */
  isFilled: () => Promise<boolean>;
  fill: (scratch: string) => Promise<void>;
  onWait: () => void;
}): Promise<void> {
  const { folder, isFilled } = options;
  await mkdir(path.dirname(folder), { recursive: true });
  const lock: FileLock = await waitForLock(`${folder}.lock`, options.onWait);
  const scratch = `${folder}.new-${randomUUID()}`;
  try {
    if (await isFilled()) return;
    await mkdir(scratch);
    await options.fill(scratch);
    await rm(folder, { recursive: true, force: true });
    await rename(scratch, folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
    lock.release();
  }
}

/** Runs `work`, reporting the elapsed time every 20 s. */
export async function withProgress<T>(
  what: string,
  report: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const start = Date.now();
  report(`${what}…`);
  const timer = setInterval(() => report(`${what}, ${Math.round((Date.now() - start) / 1000)} s…`), 20_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
