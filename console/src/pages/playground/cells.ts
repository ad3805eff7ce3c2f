import { useSyncExternalStore } from 'react';
import { post } from '../../api.ts';
import type { CreateExecution, Execution } from '../../api-types.ts';
import { createLimiter } from './limiter.ts';
import type { ChatMessage } from './pane-state.ts';
import { cancelRun, followRun, isBusy, NEW_RUN, type Run } from './run.ts';

/**
 * With HTTP/1.1 a browser opens six connections to a service. Each run holds one while it is in progress, and stopping it takes
 * another.
 */
const MOST_AT_ONCE = 4;

/** Types of evaluators that `POST /evaluators/try` does not accept. */
export const NOT_TRIED: readonly string[] = ['similar', 'pairwise', 'http'];

/** An evaluator's score of an output: `POST /evaluators/try`. */
export interface TriedScore {
  name: string;
  /** 0–1; null for none. */
  score: number | null;
  reason: string | null;
  problem: string | null;
  cost: Execution['cost'] | null;
}

export interface Scoring {
  isUnderWay: boolean;
  /** The weighted mean, 0–1; null if there is no score. */
  score: number | null | undefined;
  scores: TriedScore[];
  error: unknown;
}

/** The result of a pane with a row. */
export interface Cell {
  run: Run;
  /** The conversation so far, before the output of the run. */
  turns: readonly ChatMessage[];
  scoring: Scoring | undefined;
}

export const cellKey = (pane: { key: number }, row: { key: number }) => `${pane.key} ${row.key}`;

/** The cells of a playground. Runs report their state once per frame; only the views of changed cells are redrawn. */
export class Cells {
  #cells: ReadonlyMap<string, Cell> = new Map();
  readonly #listeners = new Set<() => void>();
  readonly #limiter = createLimiter(MOST_AT_ONCE);
  readonly #aborts = new Map<string, AbortController>();
  /** Functions that remove a waiting run or scoring. */
  readonly #waiting = new Map<string, () => boolean>();
  /** Cells whose run should be stopped as soon as it has started. */
  readonly #unwanted = new Set<string>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly all = (): ReadonlyMap<string, Cell> => this.#cells;
  readonly get = (key: string): Cell | undefined => this.#cells.get(key);

  set(key: string, part: Partial<Cell>): void {
    const before = this.#cells.get(key) ?? { run: NEW_RUN, turns: [], scoring: undefined };
    this.#cells = new Map(this.#cells).set(key, { ...before, ...part });
    for (const listener of this.#listeners) listener();
  }

  /**
   * Queues a run of a cell, replacing its result.
   * @param bodyOf creates the request body when the run starts. May throw
   * @param onExecution called when the execution exists, and again when it has ended
   */
  run(
    key: string,
    turns: readonly ChatMessage[],
    bodyOf: () => CreateExecution,
    onExecution: (execution: Execution, hasEnded: boolean) => void,
  ): void {
    this.#leave(key);
    const abort = new AbortController();
    this.#aborts.set(key, abort);
    this.#unwanted.delete(key);
    this.set(key, { run: { ...NEW_RUN, state: 'waiting' }, turns, scoring: undefined });
    const waiting = this.#limiter.add(async () => {
      let isKnown = false;
      try {
        await followRun(bodyOf(), abort.signal, (run) => {
          this.set(key, { run });
          if (run.execution !== undefined && this.#unwanted.delete(key)) this.stop(key);
          const hasEnded = run.state === 'ended';
          if (run.execution !== undefined && (!isKnown || hasEnded)) onExecution(run.execution, hasEnded);
          isKnown = run.execution !== undefined;
        });
      } catch (error) {
        this.set(key, { run: { ...NEW_RUN, state: 'refused', error } });
      }
    });
    this.#waiting.set(key, waiting);
  }

  stop(key: string): void {
    const run = this.get(key)?.run;
    if (run === undefined || !isBusy(run)) return;
    if (run.state === 'waiting' && this.#waiting.get(key)?.())
      this.set(key, { run: { ...run, state: 'stopped' }, scoring: undefined });
    else if (run.state === 'running' && run.execution !== undefined) void cancelRun(run.execution.id).catch(() => {});
    else this.#unwanted.add(key);
  }

  /** Waiting ones first, so that none of them starts because another one has ended. */
  stopAll(): void {
    const keys = [...this.#cells.keys()];
    const isWaiting = (key: string) => this.get(key)?.run.state === 'waiting';
    for (const key of keys.filter(isWaiting)) this.stop(key);
    for (const key of keys) this.stop(key);
  }

  /** Scores the output of a cell. @param body of `POST /evaluators/try` */
  score(key: string, body: unknown): void {
    const run = this.get(key)?.run;
    const isCurrent = () => this.get(key)?.run === run && this.get(key)?.scoring === scoring;
    const scoring: Scoring = { isUnderWay: true, score: undefined, scores: [], error: undefined };
    this.set(key, { scoring });
    this.#limiter.add(async () => {
      if (!isCurrent()) return;
      try {
        const { score, scores } = await post<{ score: number | null; scores: TriedScore[] }>('/evaluators/try', body);
        if (isCurrent()) this.set(key, { scoring: { isUnderWay: false, score, scores, error: undefined } });
      } catch (error) {
        if (isCurrent()) this.set(key, { scoring: { ...scoring, isUnderWay: false, error } });
      }
    });
  }

  clearScoring(key: string): void {
    if (this.get(key)?.scoring !== undefined) this.set(key, { scoring: undefined });
  }

  /** Removes the cells that match. Their runs continue in the service. */
  drop(isGone: (key: string) => boolean): void {
    for (const key of [...this.#cells.keys()].filter(isGone)) {
      this.#leave(key);
      const left = new Map(this.#cells);
      left.delete(key);
      this.#cells = left;
    }
    for (const listener of this.#listeners) listener();
  }

  dispose(): void {
    for (const key of this.#aborts.keys()) this.#leave(key);
  }

  #leave(key: string): void {
    this.#waiting.get(key)?.();
    this.#aborts.get(key)?.abort();
  }
}

export const useCell = (cells: Cells, key: string) => useSyncExternalStore(cells.subscribe, () => cells.get(key));

/** All cells: redraws with each change. */
export const useCells = (cells: Cells) => useSyncExternalStore(cells.subscribe, cells.all);
