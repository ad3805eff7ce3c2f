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

/** The row, or what it belongs to, has changed. The workflow then reads it, so signals may be repeated. */
export const controlChanged = defineSignal('controlChanged');
/** Where the row is, as shown in the current details. */
export const progressQuery = defineQuery<string>('progress');

/** How often a workflow that waits reads its row without a signal: whoever changed it may have been unable to send one. */
export const POLL_AGAIN_MS = 6 * 60 * 60_000;

/** The summary of a wait. @param seen where the row is, in a line */
export const looksAgain = (seen: string, ms: number) => `${seen}; looks again in ${durationText(ms)}`;

export interface Following<Row> {
  /** Reads what is to be done; null where the row is gone. */
  read: () => Promise<Row | null>;
  /** Ends the row, since the workflow was canceled from outside. Called once, before the row is read. */
  end: () => Promise<void>;
  /** When to continue as new. Default: never. */
  maxHistoryEvents?: number;
}

/** A row as its workflow follows it: what people decide is in PostgreSQL, and the workflow reads it when it is told of a change. */
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

  /** Waits until the row changes or `isOver`, for `ms` at most. @returns whether it did not wait that long */
  wait(ms: number, summary: string, isOver = () => false): Promise<boolean> {
    return condition(() => this.isChanged || isOver(), ms, { summary });
  }

  /** Shows operators where the row is, as of now. Empty parts are left out. */
  show(...parts: string[]): void {
    this.#progress = [...parts, `as of ${clockText(Date.now())}`].filter((part) => part !== '').join('\n\n');
    this.#write();
  }

  /** Shows something below that, until it is undefined. */
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

/** Moves a row on to its end: `move` reads it again and again. It is not canceled with the workflow: the row is ended then, and read. */
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
  // Temporal shows a run that was canceled as such.
  if (row.isCanceled) await canceled;
}
