import type { Query } from '../db/database.ts';
import { weightedMean } from '../domain/scoring.ts';
import { render, TemplateVariablesError } from '../domain/template.ts';
import { type Example, type Score, unscored } from '../evaluators/evaluator.ts';
import { type EvaluatorConfig, prepareEvaluator } from '../evaluators/registry.ts';
import { ModelError } from '../models/model-error.ts';
import {
  loadJudgement,
  type OpenExample,
  type ResultToStore,
  type RunSpec,
  scoreResult,
  storeJudgement,
  storeResult,
} from '../services/evaluations/results-store.ts';
import type { PatientAnswer, PatientModels } from './patient-call.ts';
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
   * @throws HopelessRunError; the signal's reason where the call was given up
   */
  async run(open: OpenExample, signal: AbortSignal): Promise<number> {
    let input: string;
    try {
      input = render(this.#spec.template, open.variables);
    } catch (error) {
      if (!(error instanceof TemplateVariablesError)) throw error;
      await this.#store(open.seq, { status: 'failed', error: { code: 'invalid_example', message: error.message } });
      return 0;
    }
    let costUsd = 0;
    let answer: PatientAnswer | undefined;
    let output = open.output;
    if (output === null) {
      answer = await this.#callModel(open.seq, input, signal);
      if (answer === undefined) return 0;
      costUsd += Number(answer.cost.amount ?? 0);
      output = answer.output;
      // With judges to ask, the answer is stored first; without, together with its score.
      if (this.#judges.length > 0) await this.#store(open.seq, { status: 'answered', answer });
    }
    const example: Example = {
      output,
      expected: open.expected,
      variables: open.variables,
      input,
      ...(open.metadata === null ? {} : { metadata: open.metadata }),
    };
    const judged = await this.#askJudges(open.seq, example, signal);
    costUsd += judged.costUsd;
    const result = judged.error
      ? { status: 'failed' as const, error: judged.error }
      : this.#score(example, judged.scores);
    if (answer !== undefined && this.#judges.length === 0) await this.#store(open.seq, { ...result, answer });
    else await this.#storeScore(open.seq, result);
    return costUsd;
  }

  /** Undefined where the model failed for good: the example is stored as failed. */
  async #callModel(seq: number, input: string, signal: AbortSignal): Promise<PatientAnswer | undefined> {
    const { model, parameters } = this.#spec;
    try {
      return await this.#deps.models.generate({
        model,
        parameters,
        input,
        signal,
        timeoutMs: this.#deps.modelTimeoutMs,
      });
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      if (HOPELESS_CODES.has(error.code)) throw new HopelessRunError(error);
      const { code, message, spent } = error;
      const answer = spent && {
        ...spent,
        output: '',
        finishReason: 'content_filter' as const,
        modelMs: 0,
        providerModel: null,
        attempts: 1,
      };
      await this.#store(seq, { status: 'failed', error: { code, message }, answer });
      return undefined;
    }
  }

  async #askJudges(
    seq: number,
    example: Example,
    signal: AbortSignal,
  ): Promise<{ scores: Map<string, Score>; costUsd: number; error?: { code: string; message: string } }> {
    const scores = new Map<string, Score>();
    let costUsd = 0;
    for (const judge of this.#judges) {
      try {
        const judged = await this.#ask(judge, seq, example, signal);
        scores.set(judge.name, judged.score);
        costUsd += judged.costUsd;
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        if (HOPELESS_CODES.has(error.code)) throw new HopelessRunError(error);
        return { scores, costUsd, error: { code: error.code, message: `The judge "${judge.name}": ${error.message}` } };
      }
    }
    return { scores, costUsd };
  }

  /** Asks once, and once more where the answer held no usable score. */
  async #ask(
    judge: Judging,
    seq: number,
    example: Example,
    signal: AbortSignal,
  ): Promise<{ score: Score; costUsd: number }> {
    const { query, models, modelTimeoutMs } = this.#deps;
    let costUsd = 0;
    let stored = await untilDatabaseAnswers(() => loadJudgement(query, this.#evaluationId, seq, judge.name));
    for (;;) {
      const reading = stored && judge.read(stored.answer);
      if (reading?.usable) return { score: reading.score, costUsd };
      if (stored !== undefined && stored.asks >= 2)
        return { score: unscored('unusable_judgement', reading?.reason ?? 'no usable score'), costUsd };
      const request = judge.request(example);
      const answer = await models.generate({ model: judge.model, ...request, signal, timeoutMs: modelTimeoutMs });
      await untilDatabaseAnswers(() => storeJudgement(query, this.#evaluationId, seq, judge.name, answer));
      costUsd += Number(answer.cost.amount ?? 0);
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

  async #store(seq: number, result: ResultToStore): Promise<void> {
    await untilDatabaseAnswers(() => storeResult(this.#deps.query, this.#evaluationId, this.#spec, seq, result));
  }

  async #storeScore(seq: number, result: ResultToStore): Promise<void> {
    await untilDatabaseAnswers(() => scoreResult(this.#deps.query, this.#evaluationId, this.#spec.round, seq, result));
  }
}
