import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { clockText } from '../domain/text/clock-text.ts';
import { durationText } from '../domain/text/duration-text.ts';

/** The row, or its parent, has changed. The workflow then reads it, so signals can be repeated. */
export const controlChanged = defineSignal('controlChanged');
/** The state of the row, as shown in the current details. */
export const progressQuery = defineQuery<string>('progress');

/** How often a waiting workflow reads its row without a signal, because sending it may have failed. */
export const POLL_AGAIN_MS = 6 * 60 * 60_000;

/** The summary of a wait. @param seen the state of the row in one line */
export const checksAgain = (seen: string, ms: number) => `${seen}; checks again in ${durationText(ms)}`;

export interface Following<Row> {
  /** Reads what is to be done; null if the row is gone. */
  read: () => Promise<Row | null>;
  /** Ends the row because the workflow was canceled from outside. Called once, before the row is read. */
  end: () => Promise<void>;
  /** When to continue as new. Default: never. */
  maxHistoryEvents?: number;
}

/**
 * A row and the workflow that follows it: decisions of people are in PostgreSQL, and the workflow reads them when it is signaled.
 */
export class FollowedRow<Row> {
  readonly #following: Following<Row>;
  readonly #notes = new Map<number, string>();
  #progress = 'starting';
  #text = this.#progress;
  #isEnded = false;
  isCanceled = false;
  /** Whether it has changed since it was last read. */
  isChanged = false;

  constructor(following: Following<Row>) {
    this.#following = following;
    setHandler(controlChanged, () => {
      this.isChanged = true;
    });
    setHandler(progressQuery, () => this.#text);
  }

  get isHistoryFull(): boolean {
    return workflowInfo().historyLength > (this.#following.maxHistoryEvents ?? Number.POSITIVE_INFINITY);
  }

  async read(): Promise<Row | null> {
    const { read, end } = this.#following;
    this.isChanged = false;
    if (this.isCanceled && !this.#isEnded) {
      await end();
      this.#isEnded = true;
    }
    return read();
  }

  /** Waits until the row changes or `isOver`, for at most `ms`. @returns false if the time ran out */
  wait(ms: number, summary: string, isOver = () => false): Promise<boolean> {
    return condition(() => this.isChanged || isOver(), ms, { summary });
  }

  /** Shows operators the current state of the row, without empty parts. */
  show(...parts: string[]): void {
    this.#progress = [...parts, `as of ${clockText(Date.now())}`].filter((part) => part !== '').join('\n\n');
    this.#write();
  }

  /** Shows something below that; undefined removes it. */
  note(key: number, text: string | undefined): void {
    if (text === undefined) this.#notes.delete(key);
    else this.#notes.set(key, text);
    this.#write();
  }

  #write(): void {
    this.#text = [this.#progress, ...this.#notes.values()].join('\n\n');
    setCurrentDetails(this.#text);
  }
}

/**
 * Takes a row to its end: `move` reads it repeatedly. It is not canceled with the workflow: the row is ended first and then read.
 */
export async function followRow<Row>(
  following: Following<Row>,
  move: (row: FollowedRow<Row>) => Promise<void>,
): Promise<void> {
  const row = new FollowedRow(following);
  const canceled = CancellationScope.current().cancelRequested;
  canceled.catch(() => {
    row.isCanceled = row.isChanged = true;
  });
  await CancellationScope.nonCancellable(() => move(row));
  // Temporal shows a canceled run as such.
  if (row.isCanceled) await canceled;
}
