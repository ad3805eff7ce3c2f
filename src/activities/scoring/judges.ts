import type { Spent } from '../../domain/usage.ts';
import { type Example, PAIR_ORDERS, type PairOrder, type Score, unscored } from '../../evaluators/evaluator.ts';
import {
  type EvaluatorConfig,
  modelEvaluatorsOf,
  type PreparedComparison,
  type PreparedJudging,
  type PreparedPair,
  prepareEvaluator,
} from '../../evaluators/registry.ts';
import type { JudgementToStore } from '../../services/evaluations/run/judgements-store.ts';
import { CallFailedError, type RetryingModels } from '../call-with-retries.ts';
import type { ExampleInProgress } from './example-in-progress.ts';
import type { ExpectedCost } from './expected-cost.ts';
import { throwIfRunFails } from './run-failed-error.ts';
import { type JudgementStore, NOT_STORABLE, NotStorableError } from './stored-results.ts';

export interface JudgesDeps {
  models: RetryingModels;
  modelTimeoutMs: number;
  /** How the money reserved for an example is split among its calls. */
  expected: Pick<ExpectedCost, 'judgeShares'>;
  store: JudgementStore;
}

/** The scores of the called evaluators by name; `error` if one of them finally failed. */
export interface Judgements {
  scores: Map<string, Score>;
  error?: { code: string; message: string };
}

type ModelEvaluator = PreparedJudging | PreparedComparison;

/** The responses of a judge that compares, by order; they are stored as one. */
type PairResponses = Partial<Record<PairOrder, string[]>>;

/** A response without a usable score is followed by one more call. */
const MAX_ASKS = 2;

/** The evaluators of a run that call a model, for a grade or for embeddings. */
export class Judges {
  readonly #deps: JudgesDeps;
  readonly #judges: (ModelEvaluator | PreparedPair)[];

  constructor(deps: JudgesDeps, evaluators: readonly EvaluatorConfig[]) {
    this.#deps = deps;
    this.#judges = modelEvaluatorsOf(evaluators)
      .map(prepareEvaluator)
      .filter(
        (evaluator) => evaluator.kind === 'judging' || evaluator.kind === 'embedding' || evaluator.kind === 'pair',
      );
  }

  get count(): number {
    return this.#judges.length;
  }

  /** @throws RunFailedError; a signal's reason or an `AbortError` if the example was given up */
  async judge(progress: ExampleInProgress, example: Example): Promise<Judgements> {
    const scores = new Map<string, Score>();
    for (const judge of this.#judges) {
      try {
        const isPair = judge.kind === 'pair';
        scores.set(
          judge.name,
          await (isPair ? this.#compare(judge, progress, example) : this.#ask(judge, progress, example)),
        );
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
      if (stored !== undefined && stored.asks >= MAX_ASKS)
        return unscored('unusable_judgement', reading?.reason ?? 'no usable score');
      let asks = stored?.asks ?? 0;
      const called = await this.#paid(judge, progress, asks, () =>
        this.#call(judge, progress, example, reading?.fault),
      );
      if ('score' in called) return called;
      asks += 1;
      await this.#store(judge, progress, { ...called, asks });
      stored = { response: called.response, asks };
    }
  }

  /** Makes a call. A response that the provider's filter withheld is billed, too. */
  async #paid<Called>(
    judge: ModelEvaluator | PreparedPair,
    progress: ExampleInProgress,
    asks: number,
    call: () => Promise<Called>,
  ): Promise<Called> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof CallFailedError && error.failure.spent !== undefined)
        await this.#store(judge, progress, { response: null, asks, spent: error.failure.spent });
      throw error;
    }
  }

  /** Calls a judge in both orders. */
  async #compare(judge: PreparedPair, progress: ExampleInProgress, output: Example): Promise<Score> {
    const { models, modelTimeoutMs: timeoutMs, store } = this.#deps;
    const { seq, stops } = progress;
    const other = judge.against === undefined ? undefined : await store.loadOutput?.(judge.against, seq);
    const example = { ...output, other };
    const known = judge.known(example);
    if (known !== undefined) return known;
    const stored = await store.loadJudgement(seq, judge.name);
    const responses: PairResponses = stored === undefined ? {} : JSON.parse(stored.response);
    let asks = stored?.asks ?? 0;
    const scores: Score[] = [];
    for (const order of PAIR_ORDERS) {
      responses[order] ??= [];
      for (let isRead = false; !isRead; ) {
        const last = responses[order].at(-1);
        const reading = last === undefined ? undefined : judge.read(last, order);
        if (reading?.usable) {
          scores.push(reading.score);
          isRead = true;
        } else if (responses[order].length >= MAX_ASKS)
          return unscored('unusable_judgement', reading?.reason ?? 'no usable score');
        else {
          const call = { model: judge.model, signal: stops.giveUp, timeoutMs };
          const request = judge.request(example, order, reading?.fault);
          const called = await this.#paid(judge, progress, asks, () =>
            models.generate({ ...call, ...request }, stops.stopWaiting),
          );
          responses[order].push(called.output);
          asks += 1;
          await this.#store(judge, progress, { response: JSON.stringify(responses), spent: called, asks });
        }
      }
    }
    const [given, swapped] = scores;
    if (given === undefined || swapped === undefined) throw new Error('A pair without two scores.');
    return judge.combine(given, swapped);
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
    { name, kind }: ModelEvaluator | PreparedPair,
    { seq, bill }: ExampleInProgress,
    judgement: Omit<JudgementToStore, 'assumedUsd'>,
  ): Promise<void> {
    const { expected, store } = this.#deps;
    const share = (expected.judgeShares.get(name) ?? 0) / (kind === 'pair' ? PAIR_ORDERS.length : 1);
    const assumedUsd = bill.add(judgement.spent.cost, share);
    return store.storeJudgement(seq, name, { ...judgement, assumedUsd });
  }
}
