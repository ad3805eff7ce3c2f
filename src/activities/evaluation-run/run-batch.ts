import type { Database, Query } from '../../db/database.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import type { Cipher } from '../../domain/cipher.ts';
import type { CostEstimate } from '../../domain/evaluations/cost-estimate.ts';
import { publicId } from '../../domain/ids.ts';
import type { FollowScoring } from '../../evaluators/follow.ts';
import { evaluatorModelsOf } from '../../evaluators/registry.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import type { Turns } from '../../lib/turns.ts';
import type { Models } from '../../models/model.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { readRunControl } from '../../services/evaluations/control/run-control.ts';
import { loadRunSpec, type RunRef, type RunSpec } from '../../services/evaluations/creation/run-spec.ts';
import type { OnEvaluationEnd } from '../../services/evaluations/evaluation-metrics.ts';
import { copyOutputs } from '../../services/evaluations/run/copy-outputs.ts';
import { costOfRange, type Spending } from '../../services/evaluations/run/costs.ts';
import { loadOpenExamples, type OpenExample } from '../../services/evaluations/run/open-examples.ts';
import { sumUpRun } from '../../services/evaluations/run/sum-up.ts';
import type { Slots } from '../../temporal/slots.ts';
import { createRetryingModels } from '../call-with-retries.ts';
import { createBatchAttempts } from '../scoring/batch-attempts.ts';
import { BatchBudget, firstEstimate } from '../scoring/batch-budget.ts';
import { BatchMemory } from '../scoring/batch-memory.ts';
import { BatchProgress, refusals } from '../scoring/batch-progress.ts';
import type { BatchWatch } from '../scoring/batch-watch.ts';
import type { ExampleCost } from '../scoring/example-in-progress.ts';
import { runPool } from '../scoring/example-pool.ts';
import { expectedCost } from '../scoring/expected-cost.ts';
import { RunFailedError } from '../scoring/run-failed-error.ts';
import { ScoringEndpoints } from '../scoring/scoring-endpoints.ts';
import { Suspects, type Suspicion } from '../scoring/suspects.ts';
import { ExampleRunner, type ExampleRunnerDeps } from './example-runner.ts';
import { ExampleStore } from './example-store.ts';

const EVERY_MS = 60_000;
/** Summing up uses at most a twentieth of the time. */
const REST_FACTOR = 20;

/**
 * Keeps the sums of running runs up to date in their rows, for lists: once a minute, or less often if that is slow.
 * @param query across workspaces
 * @returns to be called about once a second for each run that this process works on
 */
function createSumsKeeper(query: Query): (evaluationId: string) => void {
  const dueAt = new Map<string, number>();

  function begin(evaluationId: string): void {
    const longAgo = Date.now() - EVERY_MS;
    for (const [id, due] of dueAt) if (due < longAgo) dueAt.delete(id);
    dueAt.set(evaluationId, Date.now() + EVERY_MS);
  }

  async function sumUp(evaluationId: string): Promise<void> {
    const startedAt = Date.now();
    dueAt.set(evaluationId, Number.POSITIVE_INFINITY);
    // If the database is down, the next call retries.
    await sumUpRun(query, evaluationId, ['running', 'paused']).catch(() => {});
    dueAt.set(evaluationId, Date.now() + Math.max(EVERY_MS, REST_FACTOR * (Date.now() - startedAt)));
  }

  return (evaluationId) => {
    const due = dueAt.get(evaluationId);
    if (due === undefined) begin(evaluationId);
    else if (Date.now() >= due) void sumUp(evaluationId);
  };
}

export interface BatchInput extends RunRef {
  /** Public id. */
  workspace: string;
  /** Inclusive. */
  from: number;
  /** Exclusive. */
  to: number;
  /** Maximum calls in flight. */
  concurrency: number;
  /** Total cost of the batch in US dollars at which work on it stops; null for no limit. */
  spendUpToUsd: number | null;
  /** Whether that is all the money that the run has left. */
  isAllThereIs: boolean;
  /** Ends the batch once the cost of an example is known well enough to keep all calls in flight: other lanes wait for it. */
  probe?: boolean;
  /** The cost of one example as observed in the run. */
  estimate?: CostEstimate;
  /** Set if processes crashed while working on the batch. */
  suspicion?: Suspicion;
  /** The span that started the run, for tracing activities. */
  traceparent?: string;
}

export interface BatchResult {
  /** Whether every example of the batch has its final result. */
  finished: boolean;
  /** Whether the remaining money did not cover one example. */
  starved: boolean;
  /** Total cost of the batch so far, in US dollars. */
  costUsd: number;
  estimate?: CostEstimate;
}

export interface BatchDeps {
  db: Database;
  cipher: Cipher;
  /** For calls to the caller's scorers. */
  scorers: Outbound;
  models: Models;
  modelTimeoutMs: number;
  evaluatorPool: EvaluatorPool;
  /** Aborted when this process shuts down: no more calls are started. */
  stopping: AbortSignal;
  slots: Slots;
  /** Turns of this process, by public workspace id. */
  turns: Turns;
  /** Called for each evaluation that ends without a request. */
  onEvaluationEnd?: OnEvaluationEnd;
  /** Follows the work on outputs that are scored. Default: off. */
  followScoring?: FollowScoring | undefined;
}

/** What the work on a batch needs, loaded at its start. */
interface Batch {
  spec: RunSpec;
  memory: BatchMemory;
  suspects: Suspects;
  runner: ExampleRunner;
  budget: BatchBudget;
}

/** An example to run. */
interface LoadedExample extends OpenExample {
  /** Work of an earlier attempt that was unfinished at loading: the result may exist by now. */
  earlier: Promise<ExampleCost | undefined> | undefined;
}

/**
 * @returns a function that works through a batch: load, run, report. It skips examples that have a result, so a batch can always
 * be repeated; two attempts in one process do not pay for the same example.
 * @throws RunFailedError if the run cannot continue
 */
export function createBatchRunner(deps: BatchDeps) {
  const { db, cipher, scorers, models, modelTimeoutMs, evaluatorPool, stopping, slots, followScoring } = deps;
  const { query } = db.system;
  const retrying = createRetryingModels(models, slots.calls);
  const keepSums = createSumsKeeper(query);
  /** Unfinished examples of this process, by evaluation and number. */
  const inFlight = new Map<string, Promise<ExampleCost | undefined>>();
  const attemptBatch = createBatchAttempts(stopping);

  const exampleName = ({ evaluationId }: BatchInput, { seq }: OpenExample) => `${evaluationId}/${seq}`;

  function followOf({ workspace, evaluationId }: BatchInput): ExampleRunnerDeps['follow'] {
    const evaluation = publicId('evaluation', evaluationId);
    return followScoring && ((example, work) => followScoring({ workspace, evaluation, example }, work));
  }

  function readSpending({ evaluationId, from, to }: BatchInput, { giveUp }: BatchWatch): Promise<Spending> {
    return untilDatabaseAnswers(() => costOfRange(query, evaluationId, from, to), giveUp);
  }

  async function load(input: BatchInput, watch: BatchWatch, progress: BatchProgress): Promise<Batch> {
    const { workspace, evaluationId, spendUpToUsd, isAllThereIs } = input;
    const [spec, spent] = await Promise.all([
      untilDatabaseAnswers(() => loadRunSpec(query, input), watch.giveUp),
      readSpending(input, watch),
    ]);
    if (spec === undefined) throw new RunFailedError({ code: 'run_ended', message: 'The run has ended.' });
    if (spec.examplesId === null)
      throw new RunFailedError({ code: 'dataset_deleted', message: 'The dataset of this run was deleted.' });
    const endpoints = new ScoringEndpoints({ outbound: scorers, slots, cipher }, { ...spec, workspace, evaluationId });
    const { sourceEvaluationId } = spec;
    if (sourceEvaluationId !== null) {
      const outputs = { evaluationId, sourceEvaluationId, round: spec.round, from: input.from, to: input.to };
      await untilDatabaseAnswers(() => copyOutputs(query, outputs), watch.giveUp);
    }
    const expected = expectedCost(models, spec);
    // The earlier cost could be from any of the models: assume the cheapest, and that the next needs the most expensive.
    const before = { ...spent, costUsd: spent.costUsd * (expected.ratioToMostExpensive(spec.model) ?? 1) };
    const estimate = firstEstimate(input.estimate, before, expected.totalUsd);
    const budget = new BatchBudget({ limitUsd: spendUpToUsd, spentUsd: spent.costUsd, estimate, isAllThereIs });
    const store = new ExampleStore(query, evaluationId, spec, watch.giveUp);
    const runModels = retrying.of(workspace, evaluationId, { evaluation: publicId('evaluation', evaluationId) });
    const runner = new ExampleRunner(
      { models: runModels, modelTimeoutMs, expected, store, evaluatorPool, endpoints, follow: followOf(input) },
      spec,
    );
    const used = [spec.model, ...spec.fallbackModels, ...evaluatorModelsOf(spec.evaluators)];
    progress.begin({ budget, store, waits: () => [...refusals(runModels, used), ...endpoints.troubles] });
    const suspects = new Suspects(input, slots, progress);
    return { spec, runner, budget, suspects, memory: new BatchMemory(slots.examples, workspace) };
  }

  async function loadExamples(
    input: BatchInput,
    spec: RunSpec,
    watch: BatchWatch,
    { from, to, limit }: { from: number; to: number; limit: number },
  ): Promise<LoadedExample[]> {
    // Read before the rows, so that an example that ends in between still counts as one of an earlier attempt.
    const earlier = new Map(inFlight);
    const examples = await untilDatabaseAnswers(
      () => loadOpenExamples(query, input.evaluationId, spec, from, to, limit),
      watch.giveUp,
    );
    return examples.map((example) => ({ ...example, earlier: earlier.get(exampleName(input, example)) }));
  }

  /** Runs an example when there is memory for it. */
  async function runInPlace(
    input: BatchInput,
    runner: ExampleRunner,
    watch: BatchWatch,
    example: OpenExample,
    reservedUsd: number,
  ): Promise<ExampleCost | undefined> {
    const name = exampleName(input, example);
    const { workspace, evaluationId: group } = input;
    const place = { amount: runner.weightOf(example), signal: watch.stopWaiting, group };
    const release = await slots.inputs.acquire(workspace, place);
    const running = runner.run(example, watch, reservedUsd).finally(() => {
      inFlight.delete(name);
      release();
    });
    inFlight.set(name, running);
    return running;
  }

  async function runExample(
    input: BatchInput,
    { spec, runner, memory, suspects }: Batch,
    watch: BatchWatch,
    loaded: LoadedExample,
    reservedUsd: number,
  ): Promise<ExampleCost | undefined> {
    try {
      let example: OpenExample = loaded;
      if (loaded.earlier !== undefined) {
        const cost = await loaded.earlier.catch(() => undefined);
        const { seq } = loaded;
        const [stillOpen] = await loadExamples(input, spec, watch, { from: seq, to: seq + 1, limit: 1 });
        if (stillOpen === undefined) return cost;
        watch.stopWaiting.throwIfAborted();
        example = stillOpen;
      }
      if (suspects.isPoison(example.seq)) return await runner.giveUp(example);
      return await suspects.run(example.seq, watch.stopWaiting, () =>
        runInPlace(input, runner, watch, example, reservedUsd),
      );
    } finally {
      memory.free(loaded);
    }
  }

  async function work(input: BatchInput, watch: BatchWatch, progress: BatchProgress): Promise<BatchResult> {
    const batch = await load(input, watch, progress);
    try {
      const { finished, starved } = await runPool<LoadedExample>({
        from: input.from,
        concurrency: input.concurrency,
        budget: batch.budget,
        async loadPage(from, limit) {
          const range = { from, to: input.to, limit };
          const page = await batch.memory.load(watch.stopWaiting, () => loadExamples(input, batch.spec, watch, range));
          progress.skipTo(page, input.to);
          return page;
        },
        async runExample(example, reservedUsd) {
          const cost = await runExample(input, batch, watch, example, reservedUsd);
          progress.exampleDone();
          return cost;
        },
        stopped: () => watch.stopped() || (input.probe === true && batch.budget.window >= input.concurrency),
        stop: () => watch.stop(),
      });
      const { costUsd } = await readSpending(input, watch);
      return { finished, starved, costUsd, estimate: batch.budget.estimate };
    } finally {
      batch.memory.close();
    }
  }

  return function runBatch(input: BatchInput): Promise<BatchResult> {
    const progress = new BatchProgress(input);
    return attemptBatch(
      `${input.evaluationId}/${input.from}`,
      {
        async isOver() {
          const control = await readRunControl(query, input);
          return control === null || control.status === 'ended';
        },
        describe() {
          keepSums(input.evaluationId);
          return progress.heartbeat;
        },
      },
      (watch) => work(input, watch, progress),
    );
  };
}
