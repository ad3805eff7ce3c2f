import type { Query } from '../../db/database.ts';
import { isRefusedByDatabase } from '../../db/errors.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { newId } from '../../domain/ids.ts';
import {
  type JudgementToStore,
  loadJudgement,
  type StoredJudgement,
  storeJudgement,
} from '../../services/evaluations/judgements-store.ts';
import { type ResultToStore, scoreResult, storeResult } from '../../services/evaluations/results-store.ts';
import type { RunSpec } from '../../services/evaluations/run-spec.ts';
import { RunFailedError } from './run-failed-error.ts';

/** Stands for a result that the database refuses, though it was paid for. */
export const NOT_STORABLE = { code: 'internal_error', message: 'What came of this example could not be stored.' };

/** The database refuses the response of a judge. */
export class NotStorableError extends Error {}

/**
 * Stores the results of a run's examples. Each statement is repeated through any outage until `giveUp` aborts, so that nothing
 * that was paid for is lost.
 */
export class ExampleStore {
  readonly #query: Query;
  readonly #evaluationId: string;
  readonly #spec: Pick<RunSpec, 'examplesId' | 'round'>;
  #failed = 0;

  constructor(query: Query, evaluationId: string, spec: Pick<RunSpec, 'examplesId' | 'round'>) {
    this.#query = query;
    this.#evaluationId = evaluationId;
    this.#spec = spec;
  }

  /** Examples that were stored as failed. */
  get failed(): number {
    return this.#failed;
  }

  /**
   * Stores the outcome of the call to the model. Where the database refuses it, the example is stored as failed, with its cost.
   * @returns false where it was refused
   */
  async storeResult(seq: number, result: ResultToStore, giveUp: AbortSignal): Promise<boolean> {
    const id = newId();
    const store = (stored: ResultToStore) => () =>
      storeResult(this.#query, this.#evaluationId, this.#spec, seq, stored, id);
    const {
      response,
      spent = response,
      attempts = response?.attempts,
      finishReason = response?.finishReason,
      assumedUsd,
    } = result;
    const billed = { attempts, spent, finishReason, assumedUsd };
    const isStored = await storeOr(store(result), store({ status: 'failed', error: NOT_STORABLE, ...billed }), giveUp);
    if (!isStored || result.status === 'failed') this.#failed += 1;
    return isStored;
  }

  /** Ends an example whose output is stored. */
  async storeScore(seq: number, result: ResultToStore, giveUp: AbortSignal): Promise<void> {
    const store = (stored: ResultToStore) => () =>
      scoreResult(this.#query, this.#evaluationId, this.#spec.round, seq, stored);
    const isStored = await storeOr(store(result), store({ status: 'failed', error: NOT_STORABLE }), giveUp);
    if (!isStored || result.status === 'failed') this.#failed += 1;
  }

  loadJudgement(seq: number, evaluator: string, giveUp: AbortSignal): Promise<StoredJudgement | undefined> {
    return untilDatabaseAnswers(() => loadJudgement(this.#query, this.#evaluationId, seq, evaluator), giveUp);
  }

  /** @throws NotStorableError where the database refuses the response; its cost is stored all the same */
  async storeJudgement(
    seq: number,
    evaluator: string,
    judgement: JudgementToStore,
    giveUp: AbortSignal,
  ): Promise<void> {
    const id = newId();
    const store = (stored: JudgementToStore) => () =>
      storeJudgement(this.#query, this.#evaluationId, seq, evaluator, stored, id);
    if (!(await storeOr(store(judgement), store({ ...judgement, response: null }), giveUp)))
      throw new NotStorableError();
  }
}

/**
 * Stores something, or a substitute where the database refuses it. A refusal must not make Temporal repeat the batch: its
 * models would be called and paid for once more.
 * @returns whether it was stored as it is
 * @throws RunFailedError where the substitute is refused as well
 */
async function storeOr(
  store: () => Promise<void>,
  storeSubstitute: () => Promise<void>,
  giveUp: AbortSignal,
): Promise<boolean> {
  try {
    await untilDatabaseAnswers(store, giveUp);
    return true;
  } catch (error) {
    if (!isRefusedByDatabase(error)) throw error;
  }
  try {
    await untilDatabaseAnswers(storeSubstitute, giveUp);
    return false;
  } catch (error) {
    if (isRefusedByDatabase(error)) throw new RunFailedError(NOT_STORABLE);
    throw error;
  }
}
