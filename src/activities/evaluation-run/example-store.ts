import type { Query } from '../../db/database.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { newId } from '../../domain/ids.ts';
import type { GroupedWrites } from '../../lib/grouped-writes.ts';
import type { RunSpec } from '../../services/evaluations/creation/run-spec.ts';
import { findResponse, type WantedResponse } from '../../services/evaluations/run/find-response.ts';
import {
  type JudgementToStore,
  loadJudgement,
  type NewJudgement,
  type StoredJudgement,
  storeJudgements,
} from '../../services/evaluations/run/judgements-store.ts';
import { loadOutput } from '../../services/evaluations/run/load-output.ts';
import {
  type NewResult,
  type NewScore,
  type ResultToStore,
  storeResults,
  storeScores,
} from '../../services/evaluations/run/results-store.ts';
import {
  type JudgementStore,
  NOT_STORABLE,
  storedInGroups,
  storedJudgements,
  storeJudgementOr,
  storeOr,
} from '../scoring/stored-results.ts';

/** The approximate number of characters in a result: output, tool calls, and scores. */
function lengthOf({ response, scores = {} }: Pick<ResultToStore, 'response' | 'scores'>): number {
  const reasons = Object.values(scores).reduce((sum, { reason }) => sum + (reason?.length ?? 0), 0);
  const calls = response?.toolCalls.length ? JSON.stringify(response.toolCalls).length : 0;
  return (response?.output.length ?? 0) + calls + reasons;
}

/**
 * Stores the results of a batch's examples in groups (see {@link storedInGroups}).
 */
export class ExampleStore implements JudgementStore {
  readonly #query: Query;
  readonly #evaluationId: string;
  readonly #giveUp: AbortSignal;
  readonly #results: GroupedWrites<NewResult>;
  readonly #scores: GroupedWrites<NewScore>;
  readonly #judgements: GroupedWrites<NewJudgement>;
  #failed = 0;

  constructor(query: Query, evaluationId: string, spec: Pick<RunSpec, 'examplesId' | 'round'>, giveUp: AbortSignal) {
    this.#query = query;
    this.#evaluationId = evaluationId;
    this.#giveUp = giveUp;
    this.#results = storedInGroups(
      (results) => storeResults(query, evaluationId, spec, results),
      ({ result }) => lengthOf(result),
      giveUp,
    );
    this.#scores = storedInGroups(
      (scores) => storeScores(query, evaluationId, spec.round, scores),
      ({ result }) => lengthOf(result),
      giveUp,
    );
    this.#judgements = storedJudgements((judgements) => storeJudgements(query, evaluationId, judgements), giveUp);
  }

  /** Number of examples stored as failed. */
  get failed(): number {
    return this.#failed;
  }

  /**
   * Stores the outcome of the model call. If the database rejects it, the example is stored as failed, with its cost.
   * @param outcomeId must be set if the same outcome can be stored again
   * @returns false if it was rejected
   */
  async storeResult(seq: number, result: ResultToStore, outcomeId = newId()): Promise<boolean> {
    const store = (stored: ResultToStore) => () => this.#results.write({ seq, result: stored, outcomeId });
    const {
      response,
      spent = response,
      attempts = response?.attempts,
      finishReason = response?.finishReason,
      model = response?.model,
      assumedUsd,
    } = result;
    const billed = { attempts, spent, finishReason, model, assumedUsd };
    const isStored = await storeOr(store(result), store({ status: 'failed', error: NOT_STORABLE, ...billed }));
    if (!isStored || result.status === 'failed') this.#failed += 1;
    return isStored;
  }

  /** Completes an example whose output is stored. */
  async storeScore(seq: number, result: ResultToStore): Promise<void> {
    const store = (stored: ResultToStore) => () => this.#scores.write({ seq, result: stored });
    const isStored = await storeOr(store(result), store({ status: 'failed', error: NOT_STORABLE }));
    if (!isStored || result.status === 'failed') this.#failed += 1;
  }

  findResponse(wanted: WantedResponse): Promise<ResultToStore | undefined> {
    return untilDatabaseAnswers(() => findResponse(this.#query, wanted), this.#giveUp);
  }

  loadJudgement(seq: number, evaluator: string): Promise<StoredJudgement | undefined> {
    return untilDatabaseAnswers(() => loadJudgement(this.#query, this.#evaluationId, seq, evaluator), this.#giveUp);
  }

  /** The output of another evaluation of the same examples. */
  loadOutput(otherId: string, seq: number): Promise<string | undefined> {
    return untilDatabaseAnswers(() => loadOutput(this.#query, this.#evaluationId, otherId, seq), this.#giveUp);
  }

  /** @throws NotStorableError if the database rejects the response; its cost is stored anyway */
  storeJudgement(seq: number, evaluator: string, judgement: JudgementToStore, outcomeId = newId()): Promise<void> {
    return storeJudgementOr(
      (stored) => this.#judgements.write({ seq, evaluator, judgement: stored, outcomeId }),
      judgement,
    );
  }
}
