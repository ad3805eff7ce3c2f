import { setTimeout as delay } from 'node:timers/promises';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { evaluatorModelsOf, modelEvaluatorsOf } from '../../evaluators/registry.ts';
import type { TurnOptions } from '../../lib/turns.ts';
import type { Models } from '../../models/model.ts';
import { judgeTokens } from '../../services/evaluations/creation/expected-tokens.ts';
import { completeBackfill, failBackfill, pauseBackfillForBudget } from '../../services/rules/end-backfill.ts';
import { findPast } from '../../services/rules/find-past.ts';
import type { OpenItem } from '../../services/rules/open-item.ts';
import { loadItems, skipForBudget, skipOverdue } from '../../services/rules/rule-items.ts';
import {
  checkSoon,
  isUnchanged,
  keepLastError,
  loadRuleSpec,
  type RuleSpec,
  type RuleWork,
  subjectName,
} from '../../services/rules/rule-work.ts';
import { createRetryingModels } from '../call-with-retries.ts';
import { PROCESS_ENDED } from '../evaluation-run/example-runner.ts';
import type { BatchDeps } from '../evaluation-run/run-batch.ts';
import { inputWeight } from '../input-weight.ts';
import { createBatchAttempts } from '../scoring/batch-attempts.ts';
import { BatchBudget, firstEstimate } from '../scoring/batch-budget.ts';
import { BatchMemory } from '../scoring/batch-memory.ts';
import { BatchProgress, refusals } from '../scoring/batch-progress.ts';
import type { BatchWatch } from '../scoring/batch-watch.ts';
import type { ExampleCost } from '../scoring/example-in-progress.ts';
import { runPool } from '../scoring/example-pool.ts';
import { ExampleScorer } from '../scoring/example-scorer.ts';
import { callUsd } from '../scoring/expected-cost.ts';
import { RunFailedError } from '../scoring/run-failed-error.ts';
import { ScoringEndpoints } from '../scoring/scoring-endpoints.ts';
import { Suspects, type Suspicion } from '../scoring/suspects.ts';
import { RuleStore } from './rule-store.ts';
import { type ItemScorer, requestName, scoreItem } from './score-item.ts';

export interface RuleBatchInput extends RuleWork {
  /** Public id. */
  workspace: string;
  /** Set if processes crashed while working on it. */
  suspicion?: Suspicion;
}

export interface RuleBatchResult {
  /** Whether there may be more to do right away. */
  more: boolean;
}

/** Executions scored concurrently. */
const CONCURRENCY = 100;
/** Maximum duration of a batch; after that, another rule of the workspace gets its turn. */
const MAX_BATCH_MS = 60_000;
/** How long a batch waits for executions to complete before its workflow ends. */
const IDLE_MS = 10_000;
const POLL_MS = 250;
/** How often to check whether the work is still needed. */
const POLL_TIMEOUT_MS = 1_000;
/** Assumed size of a call until the first one has been seen. */
const TYPICAL_TOKENS = { input: 1_000, output: 500 };

/** How a round ended. `idle`: nothing is due. `starved`: there is no money for the due items. */
type RoundEnd = 'idle' | 'starved' | 'again' | 'stopped';

/**
 * @returns a function that works through what is due for a rule or a backfill. An item is completed in the transaction that stores
 * its scores, so a batch can always be repeated.
 */
export function createRuleBatchRunner(deps: BatchDeps) {
  const {
    db,
    cipher,
    scorers: outbound,
    models,
    modelTimeoutMs,
    evaluatorPool,
    stopping,
    slots,
    turns,
    followScoring,
  } = deps;
  const { query } = db.system;
  const retrying = createRetryingModels(models, slots.calls);
  const attemptBatch = createBatchAttempts(stopping);

  function runRuleBatch(input: RuleBatchInput): Promise<RuleBatchResult> {
    const progress = new BatchProgress();
    // Work in flight is awaited, whatever happens to the rule, because it is paid for.
    const isOver = () => Promise.resolve(false);
    const describe = () => progress.heartbeat;
    return attemptBatch(input.id, { isOver, describe }, async (watch, earlierEnded) => {
      await earlierEnded;
      return runRounds(input, watch, progress);
    });
  }

  function followOf({ workspace }: RuleBatchInput, { name: rule }: RuleSpec): ItemScorer['follow'] {
    return (
      followScoring &&
      ((subject, work) =>
        followScoring({ workspace, rule, ['traceId' in subject ? 'trace' : 'execution']: subjectName(subject) }, work))
    );
  }

  async function runRounds(
    input: RuleBatchInput,
    watch: BatchWatch,
    progress: BatchProgress,
  ): Promise<RuleBatchResult> {
    const until = Date.now() + MAX_BATCH_MS;
    const suspects = new Suspects({ ...input, concurrency: CONCURRENCY }, slots, progress);
    while (!watch.stopped() && Date.now() < until) {
      const spec = await untilDatabaseAnswers(() => loadRuleSpec(query, input), watch.giveUp);
      if (spec === undefined) return { more: false };
      const own = db.workspace(spec.workspaceId).query;
      if (input.kind === 'rule') await untilDatabaseAnswers(() => skipOverdue(own, input, spec.day), watch.giveUp);
      let end: RoundEnd;
      try {
        end = await runRound(input, spec, watch, progress, suspects, until);
      } catch (error) {
        if (!(error instanceof RunFailedError)) throw error;
        const { code, message } = error;
        if (input.kind === 'backfill') {
          await failBackfill(own, input.id, { code, message });
          return { more: false };
        }
        // It cannot start, for example because secrets cannot be decrypted: the attempt is repeated later.
        await keepLastError(own, input, { code, message });
        throw error;
      }
      // If the budget was just raised, there may be money for it.
      if (end === 'starved' && input.kind === 'rule' && (await isUnchanged(query, input, spec)))
        await skipForBudget(own, input, spec.day);
      if (end === 'starved' && input.kind === 'backfill')
        await pauseBackfillForBudget(own, input.id, spec.limitUsd ?? 0);
      if (end !== 'idle') continue;
      if (input.kind === 'backfill' && !(await completeBackfill(own, input.id))) continue;
      // From here on the next execution starts the next workflow.
      await checkSoon(query, input);
      return { more: false };
    }
    return { more: true };
  }

  /** Scores what is due until nothing is left or the settings of the work change. */
  async function runRound(
    input: RuleBatchInput,
    spec: RuleSpec,
    watch: BatchWatch,
    progress: BatchProgress,
    suspects: Suspects,
    until: number,
  ): Promise<RoundEnd> {
    const round = new AbortController();
    const stops = { giveUp: watch.giveUp, stopWaiting: AbortSignal.any([watch.stopWaiting, round.signal]) };
    const { workspaceId } = spec;
    const own = db.workspace(workspaceId);
    const turn: TurnOptions = { signal: () => stops.stopWaiting, group: 'rules' };
    const step = () => turns.step(input.workspace, turn);
    const store = new RuleStore(own, input, spec, () => turns.take(input.workspace, turn), watch.giveUp);
    const run = { workspace: input.workspace, evaluationId: input.id, evaluators: spec.evaluators };
    const endpoints = new ScoringEndpoints(
      { outbound, slots, cipher },
      { ...run, evaluatorSecrets: spec.evaluatorSecrets, named: requestName(spec.name, store) },
    );
    const runModels = retrying.of(input.workspace, input.id);
    const expected = judgesCost(models, spec);
    const scorer = new ExampleScorer(
      { models: runModels, modelTimeoutMs, expected, store, evaluatorPool, endpoints },
      spec,
    );
    const before = { costUsd: spec.spentUsd, examples: spec.spentUsd > 0 ? spec.counted : 0 };
    const budget = new BatchBudget({
      limitUsd: spec.limitUsd,
      spentUsd: spec.spentUsd,
      estimate: firstEstimate(undefined, before, expected.totalUsd),
      isAllThereIs: true,
    });
    const judges = evaluatorModelsOf(spec.evaluators);
    progress.begin({ budget, store, waits: () => [...refusals(runModels, judges), ...endpoints.troubles] });
    const itemScorer: ItemScorer = {
      spec,
      scorer,
      store,
      failsAltogether: input.kind === 'backfill',
      step,
      follow: followOf(input, spec),
    };
    const memory = new BatchMemory(slots.examples, input.workspace);
    const taken = new Set<number>();

    const isOver = () => Date.now() >= until || (input.kind === 'rule' && dayOf(Date.now()) !== spec.day);
    const stopped = () => watch.stopped() || round.signal.aborted || isOver();
    let isPolling = false;
    const looks = setInterval(() => {
      if (isPolling) return;
      isPolling = true;
      void isUnchanged(query, input, spec)
        .then((same) => {
          if (!same) round.abort();
        })
        // While the database is down, it cannot have been changed.
        .catch(() => {})
        .finally(() => {
          isPolling = false;
        });
    }, POLL_TIMEOUT_MS);

    /** The next items; empty if there are none or no more may be started. */
    async function loadPage(_: number, limit: number): Promise<OpenItem[]> {
      let idleSince = Date.now();
      while (!stopped()) {
        const { items, more } = await loadOnce(limit);
        if (items.length > 0) return items;
        if (more) continue;
        if (input.kind === 'backfill') {
          if (!(await findMore())) {
            // The last of it may have been stored just now.
            const last = await loadOnce(limit);
            if (last.items.length > 0 || !last.more) return last.items;
          }
          continue;
        }
        // Not idle while others are in flight.
        if (budget.inFlight > 0) idleSince = Date.now();
        if (Date.now() - idleSince > IDLE_MS) return [];
        await delay(POLL_MS, undefined, { signal: stops.stopWaiting }).catch(() => {});
        // Some are loaded and none was started in the meantime: there is no money for them.
        if (budget.inFlight === 0 && taken.size > 0) return [];
      }
      return [];
    }

    /** Searches past executions. When the round ends, the search is not retried. */
    async function findMore(): Promise<boolean> {
      const ends = AbortSignal.any([stops.giveUp, stops.stopWaiting]);
      try {
        return await untilDatabaseAnswers(() => findPast(own.query, input, spec), ends);
      } catch (error) {
        if (!stops.stopWaiting.aborted) throw error;
        return true;
      }
    }

    async function loadOnce(limit: number): Promise<{ items: OpenItem[]; more: boolean }> {
      let more = false;
      const items = await memory.load(stops.stopWaiting, async () => {
        const page = await untilDatabaseAnswers(
          () => loadItems(own.query, input, spec, [...taken], limit),
          watch.giveUp,
        );
        ({ more } = page);
        return page.items;
      });
      for (const item of items) {
        taken.add(item.seq);
        store.begin(item);
      }
      return { items, more };
    }

    async function runItem(item: OpenItem, reservedUsd: number): Promise<ExampleCost | undefined> {
      const { seq, subject } = item;
      try {
        if (suspects.isPoison(seq)) {
          await store.storeResult({ seq, subject, scores: [], error: PROCESS_ENDED });
          return undefined;
        }
        return await suspects.run(seq, stops.stopWaiting, () => runInPlace(item, reservedUsd));
      } finally {
        memory.free(item);
        taken.delete(seq);
        store.end(seq);
        progress.exampleDone();
      }
    }

    /** Scores an item when there is memory for what its judges and scorers are sent. */
    async function runInPlace(item: OpenItem, reservedUsd: number): Promise<ExampleCost | undefined> {
      if (scorer.asked === 0) return scoreItem(itemScorer, item, stops, reservedUsd);
      const place = { amount: inputWeight(item.bytes) * scorer.asked, signal: stops.stopWaiting, group: input.id };
      const release = await slots.inputs.acquire(input.workspace, place);
      try {
        return await scoreItem(itemScorer, item, stops, reservedUsd);
      } finally {
        release();
      }
    }

    try {
      const { finished, starved } = await runPool<OpenItem>({
        from: 0,
        concurrency: CONCURRENCY,
        budget,
        loadPage,
        runExample: runItem,
        stopped,
        stop: () => round.abort(),
      });
      if (watch.stopped()) return 'stopped';
      if (starved) return 'starved';
      return finished && !stopped() ? 'idle' : 'again';
    } finally {
      clearInterval(looks);
      memory.close();
    }
  }

  return runRuleBatch;
}

/** Format `2026-01-31`, in UTC. */
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

/** The expected cost of the judges of an execution before any was called, and the share of each. */
function judgesCost(models: Models, { evaluators }: RuleSpec) {
  const judges = modelEvaluatorsOf(evaluators);
  const usd = new Map(
    judges.map((config) => {
      const tokens = judgeTokens(config, TYPICAL_TOKENS.input, TYPICAL_TOKENS.output);
      return [config.name, callUsd(models, config.model, tokens.input, tokens.output)];
    }),
  );
  const totalUsd = [...usd.values()].reduce((sum, each) => sum + each, 0);
  return {
    totalUsd,
    judgeShares: new Map([...usd].map(([name, each]) => [name, totalUsd === 0 ? 0 : each / totalUsd])),
  };
}
