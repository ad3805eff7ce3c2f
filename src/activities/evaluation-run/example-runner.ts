import type { Query } from '../../db/database.ts';
import { isRefusedByDatabase } from '../../db/errors.ts';
import { newId } from '../../domain/ids.ts';
import { weightedMean } from '../../domain/scoring.ts';
import { parseTemplate, type Template, TemplateVariablesError } from '../../domain/template.ts';
import type { Cost } from '../../domain/usage.ts';
import { type Example, type Score, unscored } from '../../evaluators/evaluator.ts';
import type { EvaluatorPool, Scorer } from '../../evaluators/evaluator-pool.ts';
import { type PreparedJudging, prepareEvaluator } from '../../evaluators/registry.ts';
import { type JudgementToStore, loadJudgement, storeJudgement } from '../../services/evaluations/judgements-store.ts';
import {
  type OpenExample,
  type ResultToStore,
  type RunSpec,
  scoreResult,
  storeResult,
} from '../../services/evaluations/results-store.ts';
import { CallFailedError, type PatientAnswer, type PatientModels } from '../patient-call.ts';
import { untilDatabaseAnswers } from '../until-database-answers.ts';
import type { ExampleCost } from './batch-budget.ts';
import type { ExpectedCost } from './expected-cost.ts';

/** Errors that are nobody's example's fault: every other call would end the same way. */
const HOPELESS_CODES = new Set(['model_authentication', 'model_not_found']);

/** The whole run has no hope: credentials or model are wrong. */
export class HopelessRunError extends Error {
  readonly code: string;

  constructor({ code, message }: { code: string; message: string }) {
    super(message);
    this.name = 'HopelessRunError';
    this.code = code;
  }
}

export interface ExampleRunnerDeps {
  query: Query;
  models: PatientModels;
  modelTimeoutMs: number;
  evaluatorPool: EvaluatorPool;
  /** How what is set aside for an example is split among its calls. */
  expected: ExpectedCost;
}

/** What ends an example before its end. */
export interface Stops {
  /** Gives calls in flight up. */
  giveUp: AbortSignal;
  /** Ends waits in which nothing is in flight: for a turn, before another try. */
  stopWaiting: AbortSignal;
}

/** What came of asking the judges. */
interface Judged {
  scores: Map<string, Score>;
  error?: { code: string; message: string };
}

/** What the database does not take, though it was paid for. */
const NOT_STORABLE = { code: 'internal_error', message: 'What came of this example could not be stored.' };
const NOT_SCORED = { code: 'internal_error', message: 'The output could not be scored.' };

/** The calls for one example: adds up what they cost. */
class Bill {
  readonly #reservedUsd: number;
  #total: ExampleCost | undefined;

  /** @param reservedUsd what was set aside for the example */
  constructor(reservedUsd: number) {
    this.#reservedUsd = reservedUsd;
  }

  /** Undefined where nothing was billed. */
  get total(): ExampleCost | undefined {
    return this.#total;
  }

  /**
   * @param share of what was set aside that is this call's
   * @returns what the call counts as against a budget, in US dollars, where its cost is unknown
   */
  add({ amount }: Cost, share: number): number | undefined {
    const { knownUsd, unknownShare } = this.#total ?? { knownUsd: 0, unknownShare: 0 };
    this.#total =
      amount === null
        ? { knownUsd, unknownShare: unknownShare + share }
        : { knownUsd: knownUsd + Number(amount), unknownShare };
    return amount === null ? share * this.#reservedUsd : undefined;
  }
}

/**
 * Takes one example through its steps: call the model, ask the judges, score. Each paid answer is stored before the next
 * step, and a step whose answer is stored is not paid for again.
 */
export class ExampleRunner {
  readonly #deps: ExampleRunnerDeps;
  readonly #evaluationId: string;
  readonly #spec: RunSpec;
  readonly #template: Template;
  readonly #judges: PreparedJudging[];
  /** The other evaluators. */
  readonly #scorer: Scorer;

  constructor(deps: ExampleRunnerDeps, evaluationId: string, spec: RunSpec) {
    this.#deps = deps;
    this.#evaluationId = evaluationId;
    this.#spec = spec;
    this.#template = parseTemplate(spec.template);
    const judges = spec.evaluators.filter(({ type }) => type === 'llm_judge');
    this.#judges = judges.map(prepareEvaluator).filter((evaluator) => evaluator.kind === 'judging');
    this.#scorer = deps.evaluatorPool.scorer(spec.workspaceId, spec.evaluators);
  }

  /**
   * @param reservedUsd what was set aside for it
   * @returns what it has cost just now; undefined where nothing was billed
   * @throws HopelessRunError; a signal's reason or an `AbortError` where the example was given up
   */
  async run(open: OpenExample, stops: Stops, reservedUsd: number): Promise<ExampleCost | undefined> {
    const bill = new Bill(reservedUsd);
    await this.#run(open, stops, bill);
    return bill.total;
  }

  async #run(open: OpenExample, stops: Stops, bill: Bill): Promise<void> {
    let input: string;
    try {
      input = this.#template.render(open.variables);
    } catch (error) {
      if (!(error instanceof TemplateVariablesError)) throw error;
      await this.#store(
        open.seq,
        { status: 'failed', error: { code: 'invalid_example', message: error.message } },
        stops,
      );
      return;
    }
    let answered: ResultToStore | undefined;
    let output = open.output;
    if (output === null) {
      const answer = await this.#callModel(open.seq, input, stops, bill);
      if (answer === undefined) return;
      const assumedUsd = bill.add(answer.cost, this.#deps.expected.modelShare);
      answered = { status: 'answered', answer, assumedUsd };
      output = answer.output;
      // With judges to ask or a wait for a thread, the answer is stored first; else together with its score.
      if (this.#judges.length > 0 || !this.#scorer.isFree(output)) {
        if (!(await this.#store(open.seq, answered, stops))) return;
        answered = undefined;
      }
    }
    const example: Example = {
      output,
      expected: open.expected,
      variables: open.variables,
      input,
      ...(open.metadata === null ? {} : { metadata: open.metadata }),
    };
    const judged = await this.#askJudges(open.seq, example, stops, bill);
    let result: ResultToStore;
    try {
      result = judged.error
        ? { status: 'failed', error: judged.error }
        : await this.#scoreOrFail(example, judged.scores, stops);
    } catch (error) {
      if (answered !== undefined) await this.#store(open.seq, answered, stops);
      throw error;
    }
    if (answered !== undefined) await this.#store(open.seq, { ...answered, ...result }, stops);
    else await this.#storeScore(open.seq, result, stops);
  }

  /** The answer; undefined where the model failed for good: the example is then stored as failed, with what it was billed. */
  async #callModel(seq: number, input: string, stops: Stops, bill: Bill): Promise<PatientAnswer | undefined> {
    const { model, parameters } = this.#spec;
    const call = { model, parameters, input, signal: stops.giveUp, timeoutMs: this.#deps.modelTimeoutMs };
    try {
      return await this.#deps.models.generate(call, stops.stopWaiting);
    } catch (error) {
      if (!(error instanceof CallFailedError)) throw error;
      const { failure, attempts } = error;
      if (HOPELESS_CODES.has(failure.code)) throw new HopelessRunError(failure);
      const { code, message, spent } = failure;
      const assumedUsd = spent && bill.add(spent.cost, this.#deps.expected.modelShare);
      await this.#store(seq, { status: 'failed', error: { code, message }, attempts, spent, assumedUsd }, stops);
      return undefined;
    }
  }

  async #askJudges(seq: number, example: Example, stops: Stops, bill: Bill): Promise<Judged> {
    const judged: Judged = { scores: new Map() };
    for (const judge of this.#judges) {
      try {
        judged.scores.set(judge.name, await this.#ask(judge, seq, example, stops, bill));
      } catch (error) {
        if (error instanceof NotStorableError) return { ...judged, error: NOT_STORABLE };
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
  async #ask(judge: PreparedJudging, seq: number, example: Example, stops: Stops, bill: Bill): Promise<Score> {
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
      const call = { model: judge.model, ...request, signal, timeoutMs };
      let asks = stored?.asks ?? 0;
      try {
        const answer = await models.generate(call, stopWaiting);
        asks += 1;
        await this.#storeJudgement(judge.name, seq, { answer: answer.output, asks, spent: answer }, stops, bill);
        stored = { answer: answer.output, asks };
      } catch (error) {
        // One that the provider's filter withheld was billed as well.
        if (error instanceof CallFailedError && error.failure.spent !== undefined)
          await this.#storeJudgement(judge.name, seq, { answer: null, asks, spent: error.failure.spent }, stops, bill);
        throw error;
      }
    }
  }

  /** @throws NotStorableError where the database refuses the answer; what it cost is stored all the same */
  async #storeJudgement(
    name: string,
    seq: number,
    judgement: Omit<JudgementToStore, 'assumedUsd'>,
    { giveUp }: Stops,
    bill: Bill,
  ): Promise<void> {
    const assumedUsd = bill.add(judgement.spent.cost, this.#deps.expected.judgeShares.get(name) ?? 0);
    const id = newId();
    const store = (stored: JudgementToStore) => () =>
      storeJudgement(this.#deps.query, this.#evaluationId, seq, name, stored, id);
    const whole = { ...judgement, assumedUsd };
    if (!(await storeOr(store(whole), store({ ...whole, answer: null }), giveUp))) throw new NotStorableError();
  }

  /** A fault of ours in scoring must not have the model called again. @throws where the example was given up */
  async #scoreOrFail(example: Example, judged: Map<string, Score>, { giveUp }: Stops): Promise<ResultToStore> {
    try {
      return await this.#score(example, judged, giveUp);
    } catch (error) {
      if (giveUp.aborted) throw error;
      return { status: 'failed', error: NOT_SCORED };
    }
  }

  async #score(example: Example, judged: Map<string, Score>, giveUp: AbortSignal): Promise<ResultToStore> {
    const scores = new Map([...(await this.#scorer.score(example, giveUp)), ...judged]);
    const all = this.#spec.evaluators.map(({ name, weight }) => ({
      name,
      weight,
      ...(scores.get(name) ?? unscored('evaluator_error', '')),
    }));
    return {
      status: 'scored',
      score: weightedMean(all),
      scores: Object.fromEntries(all.map(({ name, score, reason }) => [name, { score, reason }])),
    };
  }

  /**
   * What was paid for is stored through any outage, unless this process has to end. What the database refuses fails the
   * example, with what it cost.
   * @returns false where it was refused
   */
  #store(seq: number, result: ResultToStore, { giveUp }: Stops): Promise<boolean> {
    const id = newId();
    const store = (stored: ResultToStore) => () =>
      storeResult(this.#deps.query, this.#evaluationId, this.#spec, seq, stored, id);
    const {
      answer,
      spent = answer,
      attempts = answer?.attempts,
      finishReason = answer?.finishReason,
      assumedUsd,
    } = result;
    const billed = { attempts, spent, finishReason, assumedUsd };
    const failed: ResultToStore = { status: 'failed', error: NOT_STORABLE, ...billed };
    return storeOr(store(result), store(failed), giveUp);
  }

  async #storeScore(seq: number, result: ResultToStore, { giveUp }: Stops): Promise<void> {
    const store = (stored: ResultToStore) => () =>
      scoreResult(this.#deps.query, this.#evaluationId, this.#spec.round, seq, stored);
    await storeOr(store(result), store({ status: 'failed', error: NOT_STORABLE }), giveUp);
  }
}

/** The database refuses what a judge answered. */
class NotStorableError extends Error {}

/**
 * Stores something, or where the database refuses it, what stands for it. Nothing that the database says has the batch run
 * again: its models would be called, and paid for, once more.
 * @returns whether it was stored as it is
 * @throws HopelessRunError where that is refused as well
 */
async function storeOr(
  store: () => Promise<void>,
  storeInstead: () => Promise<void>,
  giveUp: AbortSignal,
): Promise<boolean> {
  try {
    await untilDatabaseAnswers(store, giveUp);
    return true;
  } catch (error) {
    if (!isRefusedByDatabase(error)) throw error;
  }
  try {
    await untilDatabaseAnswers(storeInstead, giveUp);
    return false;
  } catch (error) {
    if (isRefusedByDatabase(error)) throw new HopelessRunError(NOT_STORABLE);
    throw error;
  }
}
