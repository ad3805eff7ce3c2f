import type { Spent } from '../../domain/usage.ts';
import { type Example, type Score, unscored } from '../../evaluators/evaluator.ts';
import {
  type EvaluatorConfig,
  modelEvaluatorsOf,
  type PreparedComparison,
  type PreparedJudging,
  prepareEvaluator,
} from '../../evaluators/registry.ts';
import type { JudgementToStore } from '../../services/evaluations/run/judgements-store.ts';
import { CallFailedError, type RetryingModels } from '../call-with-retries.ts';
import type { ExampleInProgress } from './example-in-progress.ts';
import { type ExampleStore, NOT_STORABLE, NotStorableError } from './example-store.ts';
import type { ExpectedCost } from './expected-cost.ts';
import { throwIfRunFails } from './run-failed-error.ts';

export interface JudgesDeps {
  models: RetryingModels;
  modelTimeoutMs: number;
  /** How the money reserved for an example is split among its calls. */
  expected: Pick<ExpectedCost, 'judgeShares'>;
  store: Pick<ExampleStore, 'loadJudgement' | 'storeJudgement'>;
}

/** The scores of the called evaluators by name; `error` if one of them finally failed. */
export interface Judgements {
  scores: Map<string, Score>;
  error?: { code: string; message: string };
}

type ModelEvaluator = PreparedJudging | PreparedComparison;

/** The evaluators of a run that call a model, for a grade or for embeddings. */
export class Judges {
  readonly #deps: JudgesDeps;
  readonly #judges: ModelEvaluator[];

  constructor(deps: JudgesDeps, evaluators: readonly EvaluatorConfig[]) {
    this.#deps = deps;
    this.#judges = modelEvaluatorsOf(evaluators)
      .map(prepareEvaluator)
      .filter((evaluator) => evaluator.kind === 'judging' || evaluator.kind === 'embedding');
  }

  get count(): number {
    return this.#judges.length;
  }

  /** @throws RunFailedError; a signal's reason or an `AbortError` if the example was given up */
  async judge(progress: ExampleInProgress, example: Example): Promise<Judgements> {
    const scores = new Map<string, Score>();
    for (const judge of this.#judges) {
      try {
        scores.set(judge.name, await this.#ask(judge, progress, example));
      } catch (error) {
        if (error instanceof NotStorableError) return { scores, error: NOT_STORABLE };
        if (!(error instanceof CallFailedError)) throw error;
        throwIfRunFails(error);
        const { code, message } = error.failure;
        return { scores, error: { code, message: `The judge "${judge.name}": ${message}` } };
      }
    }
    return { scores };
  }

  /** Calls a judge, and once more with the problem stated if the response held no usable score. */
  async #ask(judge: ModelEvaluator, progress: ExampleInProgress, example: Example): Promise<Score> {
    const { store } = this.#deps;
    const { seq } = progress;
    let stored = await store.loadJudgement(seq, judge.name);
    for (;;) {
      const reading = stored && judge.read(stored.response);
      if (reading?.usable) return reading.score;
      if (stored !== undefined && stored.asks >= 2)
        return unscored('unusable_judgement', reading?.reason ?? 'no usable score');
      let asks = stored?.asks ?? 0;
      try {
        const called = await this.#call(judge, progress, example, reading?.fault);
        if ('score' in called) return called;
        asks += 1;
        await this.#store(judge, progress, { ...called, asks });
        stored = { response: called.response, asks };
      } catch (error) {
        // A response that the provider's filter withheld is billed, too.
        if (error instanceof CallFailedError && error.failure.spent !== undefined)
          await this.#store(judge, progress, { response: null, asks, spent: error.failure.spent });
        throw error;
      }
    }
  }

  /** Calls the model; returns the score directly if no call is needed. */
  async #call(
    judge: ModelEvaluator,
    { stops }: ExampleInProgress,
    example: Example,
    fault: string | undefined,
  ): Promise<{ response: string; spent: Spent } | Score> {
    const { models, modelTimeoutMs: timeoutMs } = this.#deps;
    const call = { model: judge.model, signal: stops.giveUp, timeoutMs };
    if (judge.kind === 'judging') {
      const response = await models.generate({ ...call, ...judge.request(example, fault) }, stops.stopWaiting);
      return { response: response.output, spent: response };
    }
    const compared = judge.request(example);
    if ('score' in compared) return compared;
    const response = await models.similarities({ ...call, ...compared }, stops.stopWaiting);
    return { response: JSON.stringify(response.similarities), spent: response };
  }

  /** @throws NotStorableError */
  #store(
    { name }: ModelEvaluator,
    { seq, bill }: ExampleInProgress,
    judgement: Omit<JudgementToStore, 'assumedUsd'>,
  ): Promise<void> {
    const { expected, store } = this.#deps;
    const assumedUsd = bill.add(judgement.spent.cost, expected.judgeShares.get(name) ?? 0);
    return store.storeJudgement(seq, name, { ...judgement, assumedUsd });
  }
}
