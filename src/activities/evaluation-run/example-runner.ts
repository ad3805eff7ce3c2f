import { NO_VERSION } from '../../domain/evaluations/code-run.ts';
import { countedScore, weightedMean } from '../../domain/evaluations/scoring.ts';
import type { ModelInput } from '../../domain/prompts/messages.ts';
import { type Prompt, parsePrompt, TemplateVariablesError } from '../../domain/prompts/prompt.ts';
import { readableInput } from '../../domain/text/readable-messages.ts';
import type { Cost } from '../../domain/usage.ts';
import { type Example, isNoScore, unscored } from '../../evaluators/evaluator.ts';
import type { TellScores } from '../../evaluators/follow.ts';
import type { RunSpec } from '../../services/evaluations/creation/run-spec.ts';
import type { OpenExample } from '../../services/evaluations/run/open-examples.ts';
import type { ResultToStore } from '../../services/evaluations/run/results-store.ts';
import { callHashOf } from '../../services/executions/creation/call-hash.ts';
import { CallFailedError, type RetriedResponse } from '../call-with-retries.ts';
import type { Stops } from '../scoring/batch-watch.ts';
import { CostTally, type ExampleCost, type ExampleInProgress } from '../scoring/example-in-progress.ts';
import { ExampleScorer, type ExampleScorerDeps } from '../scoring/example-scorer.ts';
import type { ExpectedCost } from '../scoring/expected-cost.ts';
import { throwIfRunFails } from '../scoring/run-failed-error.ts';
import { weightOfRun } from '../scoring/weights.ts';
import type { ExampleStore } from './example-store.ts';

type FollowExample = <T>(seq: number, work: (tell: TellScores) => Promise<T>) => Promise<T>;

export interface ExampleRunnerDeps extends ExampleScorerDeps {
  expected: ExpectedCost;
  store: ExampleStore;
  /** Follows the work on an example, by its position. Default: off. */
  follow?: FollowExample | undefined;
}

/** For runs that score the outputs of another run. */
const NO_OUTPUT = { code: 'no_output', message: 'The source run has no output for this example.' };
/** For examples during which processes crashed. */
export const PROCESS_ENDED = {
  code: 'process_ended',
  message: 'Four worker processes ended while running this example, the last two while it ran in isolation.',
};

/**
 * Takes one example through its steps: call the model, call the judges and the caller's scorers, score. Each paid response is
 * stored before the next step, and a step with a stored response is not paid for again.
 */
export class ExampleRunner {
  readonly #deps: ExampleRunnerDeps;
  readonly #spec: RunSpec;
  readonly #prompt: Prompt;
  readonly #scorer: ExampleScorer;

  constructor(deps: ExampleRunnerDeps, spec: RunSpec) {
    this.#deps = deps;
    this.#spec = spec;
    this.#prompt = parsePrompt(spec.content, spec.includes);
    this.#scorer = new ExampleScorer(deps, spec);
  }

  /** The maximum memory of an example while it runs, in bytes. */
  weightOf(open: OpenExample): number {
    return weightOfRun(open, (bytes) => this.#prompt.maxChars(bytes), this.#scorer.asked);
  }

  /**
   * @param reservedUsd the money reserved for it
   * @returns its cost in this attempt; undefined if nothing was billed
   * @throws RunFailedError; a signal's reason or an `AbortError` if the example was given up
   */
  run(open: OpenExample, stops: Stops, reservedUsd: number): Promise<ExampleCost | undefined> {
    const progress = { seq: open.seq, stops, bill: new CostTally(reservedUsd) };
    const { follow } = this.#deps;
    return follow === undefined
      ? this.#run(open, progress)
      : follow(open.seq, (tellScores) => this.#run(open, { ...progress, tellScores }));
  }

  async #run(open: OpenExample, progress: ExampleInProgress): Promise<ExampleCost | undefined> {
    const input = await this.#render(open);
    if (input !== undefined) await this.#runRendered(open, input, progress);
    return progress.bill.total;
  }

  /** Stores an example that crashed processes as failed. */
  async giveUp({ seq }: OpenExample): Promise<undefined> {
    await this.#deps.store.storeResult(seq, { status: 'failed', error: PROCESS_ENDED });
  }

  /** The prompt; undefined if a variable is missing or does not fit, in which case the example is stored as failed. */
  async #render({ seq, variables }: OpenExample): Promise<ModelInput | undefined> {
    // A judge of a program's output sees the program's input.
    if (this.#spec.target === 'code') return JSON.stringify(variables);
    try {
      return this.#prompt.fill(variables);
    } catch (error) {
      if (!(error instanceof TemplateVariablesError)) throw error;
      const failed = { code: 'invalid_example', message: error.message };
      await this.#deps.store.storeResult(seq, { status: 'failed', error: failed });
      return undefined;
    }
  }

  async #runRendered(open: OpenExample, input: ModelInput, progress: ExampleInProgress): Promise<void> {
    const { store } = this.#deps;
    const { seq } = progress;
    let unstored: ResultToStore | undefined;
    let { output, toolCalls, modelMs, costUsd } = open;
    if (output === null && this.#spec.sourceEvaluationId !== null) {
      await store.storeResult(seq, { status: 'failed', error: NO_OUTPUT });
      return;
    }
    if (output === null) {
      unstored = await this.#respond(input, progress);
      if (unstored?.response === undefined) return;
      ({ output, toolCalls, modelMs } = unstored.response);
      costUsd = unstored.reused === undefined ? unstored.response.cost.amount : unstored.reused.costUsd;
      // If judges or threads are involved, the output is stored first; otherwise together with its score.
      if (!this.#scorer.isFree({ output, toolCalls })) {
        if (!(await store.storeResult(seq, unstored))) return;
        unstored = undefined;
      }
    }
    const example: Example = {
      output,
      toolCalls,
      modelMs,
      costUsd,
      expected: open.expected,
      variables: open.variables,
      input: readableInput(input),
      ...(open.metadata === null ? {} : { metadata: open.metadata }),
    };
    let result: ResultToStore;
    try {
      result = await this.#evaluate(example, progress);
    } catch (error) {
      if (unstored !== undefined) await store.storeResult(seq, unstored);
      throw error;
    }
    if (unstored !== undefined) await store.storeResult(seq, { ...unstored, ...result });
    else await store.storeScore(seq, result);
  }

  /** Like {@link #callModel}, but reuses an earlier paid response if the run allows it. */
  async #respond(input: ModelInput, progress: ExampleInProgress): Promise<ResultToStore | undefined> {
    const { workspaceId, model, parameters, content, reuseMaxAge } = this.#spec;
    const callHash = callHashOf({ input, parameters, tools: content.tools, toolChoice: content.tool_choice });
    if (reuseMaxAge !== null) {
      const maxAgeMs = reuseMaxAge * 1000;
      const found = await this.#deps.store.findResponse({ workspaceId, callHash, model, maxAgeMs });
      if (found !== undefined) return found;
    }
    const answered = await this.#callModel(input, progress);
    return answered && { ...answered, callHash: callHash.toString('hex') };
  }

  /** The response to store; undefined if the model finally failed, in which case the example is stored as failed, with its cost. */
  async #callModel(input: ModelInput, { seq, stops, bill }: ExampleInProgress): Promise<ResultToStore | undefined> {
    const { models, modelTimeoutMs: timeoutMs, store } = this.#deps;
    const { model, fallbackModels, parameters, content, promptName: name, promptVersion: version } = this.#spec;
    const sent = { input, tools: content.tools, toolChoice: content.tool_choice, parameters };
    const origin = { prompt: { name, version: version === NO_VERSION ? null : version } };
    const call = { model, fallbackModels, ...sent, origin, signal: stops.giveUp, timeoutMs };
    try {
      const response: RetriedResponse = await models.generate(call, stops.stopWaiting);
      return { status: 'answered', response, assumedUsd: this.#charge(bill, response.model, response.cost) };
    } catch (error) {
      if (!(error instanceof CallFailedError)) throw error;
      const { failure, attempts, model } = error;
      throwIfRunFails(error);
      const { code, message, spent } = failure;
      const assumedUsd = spent && this.#charge(bill, model, spent.cost);
      const failed: ResultToStore = { status: 'failed', error: { code, message }, attempts, model, spent, assumedUsd };
      await store.storeResult(seq, failed);
      return undefined;
    }
  }

  /** Adds a call to one of the run's models to the tally. @returns as {@link CostTally.add} */
  #charge(bill: CostTally, model: string, cost: Cost): number | undefined {
    const { expected } = this.#deps;
    bill.ratioToMostExpensive = expected.ratioToMostExpensive(model);
    return bill.add(cost, expected.shareOf(model));
  }

  async #evaluate(example: Example, progress: ExampleInProgress): Promise<ResultToStore> {
    const { scores, error } = await this.#scorer.score(example, progress);
    if (error !== undefined) return { status: 'failed', error };
    const all = this.#spec.evaluators.map(({ name, weight }) => ({
      name,
      weight,
      ...(scores.get(name) ?? unscored('evaluator_error', '')),
    }));
    return {
      status: 'scored',
      // If one is missing, the mean would not be comparable with that of other examples.
      score: all.some(isNoScore) ? null : countedScore(weightedMean(all), this.#spec.exampleThreshold),
      scores: Object.fromEntries(
        all.map(({ name, score, reason, category, problem }) => [
          name,
          { score: isNoScore({ problem }) ? null : score, reason, ...(category !== undefined && { category }) },
        ]),
      ),
    };
  }
}
