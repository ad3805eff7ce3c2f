import { type Example, type Score, unscored } from '../../evaluators/evaluator.ts';
import { type EvaluatorConfig, judgesOf, type PreparedJudging, prepareEvaluator } from '../../evaluators/registry.ts';
import type { JudgementToStore } from '../../services/evaluations/run/judgements-store.ts';
import { CallFailedError, type RetryingModels } from '../call-with-retries.ts';
import type { ExampleInProgress } from './example-in-progress.ts';
import { type ExampleStore, NOT_STORABLE, NotStorableError } from './example-store.ts';
import type { ExpectedCost } from './expected-cost.ts';
import { throwIfRunFails } from './run-failed-error.ts';

export interface JudgesDeps {
  models: RetryingModels;
  modelTimeoutMs: number;
  /** Says how the money that is reserved for an example is split among its calls. */
  expected: Pick<ExpectedCost, 'judgeShares'>;
  store: Pick<ExampleStore, 'loadJudgement' | 'storeJudgement'>;
}

/** The scores of those who were asked, by the evaluator's name; `error` where one of them failed for good. */
export interface Judgements {
  scores: Map<string, Score>;
  error?: { code: string; message: string };
}

/** The evaluators of a run that ask a model. */
export class Judges {
  readonly #deps: JudgesDeps;
  readonly #judges: PreparedJudging[];

  constructor(deps: JudgesDeps, evaluators: readonly EvaluatorConfig[]) {
    this.#deps = deps;
    this.#judges = judgesOf(evaluators)
      .map(prepareEvaluator)
      .filter((evaluator) => evaluator.kind === 'judging');
  }

  get count(): number {
    return this.#judges.length;
  }

  /** @throws RunFailedError; a signal's reason or an `AbortError` where the example was given up */
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

  /** Asks once, and once more where the response held no usable score. */
  async #ask(judge: PreparedJudging, progress: ExampleInProgress, example: Example): Promise<Score> {
    const { models, modelTimeoutMs: timeoutMs, store } = this.#deps;
    const { seq, stops } = progress;
    let stored = await store.loadJudgement(seq, judge.name);
    for (;;) {
      const reading = stored && judge.read(stored.response);
      if (reading?.usable) return reading.score;
      if (stored !== undefined && stored.asks >= 2)
        return unscored('unusable_judgement', reading?.reason ?? 'no usable score');
      const call = { model: judge.model, ...judge.request(example), signal: stops.giveUp, timeoutMs };
      let asks = stored?.asks ?? 0;
      try {
        const response = await models.generate(call, stops.stopWaiting);
        asks += 1;
        await this.#store(judge, progress, { response: response.output, asks, spent: response });
        stored = { response: response.output, asks };
      } catch (error) {
        // A response that the provider's filter withheld was billed as well.
        if (error instanceof CallFailedError && error.failure.spent !== undefined)
          await this.#store(judge, progress, { response: null, asks, spent: error.failure.spent });
        throw error;
      }
    }
  }

  /** @throws NotStorableError */
  #store(
    { name }: PreparedJudging,
    { seq, bill }: ExampleInProgress,
    judgement: Omit<JudgementToStore, 'assumedUsd'>,
  ): Promise<void> {
    const { expected, store } = this.#deps;
    const assumedUsd = bill.add(judgement.spent.cost, expected.judgeShares.get(name) ?? 0);
    return store.storeJudgement(seq, name, { ...judgement, assumedUsd });
  }
}
