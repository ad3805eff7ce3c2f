import type { Query } from '../db/database.ts';
import { weightedMean } from '../domain/scoring.ts';
import { render, TemplateVariablesError } from '../domain/template.ts';
import { type Example, type Score, unscored } from '../evaluators/evaluator.ts';
import { type EvaluatorConfig, prepareEvaluator } from '../evaluators/registry.ts';
import type { ModelError } from '../models/model-error.ts';
import { loadJudgement, storeJudgement } from '../services/evaluations/judgements-store.ts';
import {
  type OpenExample,
  type ResultToStore,
  type RunSpec,
  scoreResult,
  storeResult,
} from '../services/evaluations/results-store.ts';
import { CallFailedError, type PatientAnswer, type PatientModels } from './patient-call.ts';
import { untilDatabaseAnswers } from './until-database-answers.ts';

/** Errors that are nobody's example's fault: every other call would end the same way. */
const HOPELESS_CODES = new Set(['model_authentication', 'model_not_found']);

/** The whole run has no hope: credentials or model are wrong. */
export class HopelessRunError extends Error {
  readonly code: string;

  constructor({ code, message }: ModelError) {
    super(message);
    this.name = 'HopelessRunError';
    this.code = code;
  }
}

type Prepared = ReturnType<typeof prepareEvaluator>;
type Judging = Extract<Prepared, { kind: 'judging' }>;

export interface ExampleRunnerDeps {
  query: Query;
  models: PatientModels;
  modelTimeoutMs: number;
}

/** What ends an example before its end. */
export interface Stops {
  /** Gives calls in flight up. */
  giveUp: AbortSignal;
  /** Ends waits in which nothing is in flight: for a turn, before another try. */
  stopWaiting: AbortSignal;
}

/** What came of asking the judges. `spentUsd` also where one of them failed. */
interface Judged {
  scores: Map<string, Score>;
  spentUsd: number;
  error?: { code: string; message: string };
}

/**
 * Takes one example through its steps: call the model, ask the judges, score. Each paid answer is stored before the next
 * step, and a step whose answer is stored is not paid for again.
 */
export class ExampleRunner {
  readonly #deps: ExampleRunnerDeps;
  readonly #evaluationId: string;
  readonly #spec: RunSpec;
  readonly #evaluators: Prepared[];

  constructor(deps: ExampleRunnerDeps, evaluationId: string, spec: RunSpec) {
    this.#deps = deps;
    this.#evaluationId = evaluationId;
    this.#spec = spec;
    this.#evaluators = spec.evaluators.map((config: EvaluatorConfig) => prepareEvaluator(config));
  }

  get #judges(): Judging[] {
    return this.#evaluators.filter((evaluator) => evaluator.kind === 'judging');
  }

  /**
   * @returns what it has cost just now, in US dollars
   * @throws HopelessRunError; a signal's reason or an `AbortError` where the example was given up
   */
  async run(open: OpenExample, stops: Stops): Promise<number> {
    let input: string;
    try {
      input = render(this.#spec.template, open.variables);
    } catch (error) {
      if (!(error instanceof TemplateVariablesError)) throw error;
      await this.#store(
        open.seq,
        { status: 'failed', error: { code: 'invalid_example', message: error.message } },
        stops,
      );
      return 0;
    }
    let spentUsd = 0;
    let answer: PatientAnswer | undefined;
    let output = open.output;
    if (output === null) {
      const called = await this.#callModel(open.seq, input, stops);
      if ('failedUsd' in called) return called.failedUsd;
      answer = called;
      spentUsd += Number(answer.cost.amount ?? 0);
      output = answer.output;
      // With judges to ask, the answer is stored first; without, together with its score.
      if (this.#judges.length > 0) await this.#store(open.seq, { status: 'answered', answer }, stops);
    }
    const example: Example = {
      output,
      expected: open.expected,
      variables: open.variables,
      input,
      ...(open.metadata === null ? {} : { metadata: open.metadata }),
    };
    const judged = await this.#askJudges(open.seq, example, stops);
    const result = judged.error
      ? { status: 'failed' as const, error: judged.error }
      : this.#score(example, judged.scores);
    if (answer !== undefined && this.#judges.length === 0) await this.#store(open.seq, { ...result, answer }, stops);
    else await this.#storeScore(open.seq, result, stops);
    return spentUsd + judged.spentUsd;
  }

  /** The answer; where the model failed for good, the example is stored as failed and what that was billed is given. */
  async #callModel(seq: number, input: string, stops: Stops): Promise<PatientAnswer | { failedUsd: number }> {
    const { model, parameters } = this.#spec;
    const call = { model, parameters, input, signal: stops.giveUp, timeoutMs: this.#deps.modelTimeoutMs };
    try {
      return await this.#deps.models.generate(call, stops.stopWaiting);
    } catch (error) {
      if (!(error instanceof CallFailedError)) throw error;
      const { failure, attempts } = error;
      if (HOPELESS_CODES.has(failure.code)) throw new HopelessRunError(failure);
      const { code, message, spent } = failure;
      const result: ResultToStore = { status: 'failed', error: { code, message }, attempts, spent };
      await this.#store(seq, result, stops);
      return { failedUsd: Number(spent?.cost.amount ?? 0) };
    }
  }

  async #askJudges(seq: number, example: Example, stops: Stops): Promise<Judged> {
    const judged: Judged = { scores: new Map(), spentUsd: 0 };
    for (const judge of this.#judges) {
      try {
        judged.scores.set(judge.name, await this.#ask(judge, seq, example, stops, judged));
      } catch (error) {
        if (!(error instanceof CallFailedError)) throw error;
        const { code, message } = error.failure;
        if (HOPELESS_CODES.has(code)) throw new HopelessRunError(error.failure);
        judged.error = { code, message: `The judge "${judge.name}": ${message}` };
        break;
      }
    }
    return judged;
  }

  /** Asks once, and once more where the answer held no usable score. */
  async #ask(judge: Judging, seq: number, example: Example, stops: Stops, judged: Judged): Promise<Score> {
    const { query, models, modelTimeoutMs: timeoutMs } = this.#deps;
    const evaluationId = this.#evaluationId;
    const { giveUp: signal, stopWaiting } = stops;
    let stored = await untilDatabaseAnswers(() => loadJudgement(query, evaluationId, seq, judge.name), signal);
    for (;;) {
      const reading = stored && judge.read(stored.answer);
      if (reading?.usable) return reading.score;
      if (stored !== undefined && stored.asks >= 2)
        return unscored('unusable_judgement', reading?.reason ?? 'no usable score');
      const request = judge.request(example);
      const answer = await models.generate({ model: judge.model, ...request, signal, timeoutMs }, stopWaiting);
      judged.spentUsd += Number(answer.cost.amount ?? 0);
      await untilDatabaseAnswers(() => storeJudgement(query, evaluationId, seq, judge.name, answer), signal);
      stored = { answer: answer.output, asks: (stored?.asks ?? 0) + 1 };
    }
  }

  #score(example: Example, judged: Map<string, Score>): ResultToStore {
    const all = this.#evaluators.map((evaluator) => ({
      name: evaluator.name,
      weight: evaluator.weight,
      ...(evaluator.kind === 'scoring'
        ? evaluator.score(example)
        : (judged.get(evaluator.name) ?? unscored('evaluator_error', ''))),
    }));
    return {
      status: 'scored',
      score: weightedMean(all),
      scores: Object.fromEntries(all.map(({ name, score, reason }) => [name, { score, reason }])),
    };
  }

  /** What was paid for is stored through any outage, unless this process has to end. */
  async #store(seq: number, result: ResultToStore, { giveUp }: Stops): Promise<void> {
    await untilDatabaseAnswers(
      () => storeResult(this.#deps.query, this.#evaluationId, this.#spec, seq, result),
      giveUp,
    );
  }

  async #storeScore(seq: number, result: ResultToStore, { giveUp }: Stops): Promise<void> {
    await untilDatabaseAnswers(
      () => scoreResult(this.#deps.query, this.#evaluationId, this.#spec.round, seq, result),
      giveUp,
    );
  }
}
