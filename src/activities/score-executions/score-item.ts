import { readableInput } from '../../domain/text/readable-messages.ts';
import type { Example, Score } from '../../evaluators/evaluator.ts';
import type { TellScores } from '../../evaluators/follow.ts';
import type { OpenItem } from '../../services/rules/open-item.ts';
import { type RuleSpec, type RuleSubject, subjectName } from '../../services/rules/rule-work.ts';
import type { ItemResult } from '../../services/rules/store-results.ts';
import type { Stops } from '../scoring/batch-watch.ts';
import { CostTally, type ExampleCost } from '../scoring/example-in-progress.ts';
import type { ExampleScorer, ScoredExampleResult } from '../scoring/example-scorer.ts';
import { RunFailedError } from '../scoring/run-failed-error.ts';
import type { RuleStore } from './rule-store.ts';

/** Presents an execution or trace to evaluators: it has no expected value. */
const toExample = (item: OpenItem): Example => ({
  output: item.output,
  toolCalls: item.toolCalls,
  expected: undefined,
  variables: item.variables,
  input: item.inputMessages === null ? (item.input ?? '') : readableInput(item.inputMessages),
  modelMs: item.modelMs,
  costUsd: item.costUsd,
  metadata: item.metadata,
  steps: item.steps,
});

/** The dependencies for scoring an item. */
export interface ItemScorer {
  spec: RuleSpec;
  scorer: ExampleScorer;
  store: RuleStore;
  /** Whether to throw a failure that every other item would also have. Otherwise only this one fails. */
  failsAltogether: boolean;
  /** Waits until the next step of an item can run. */
  step: () => Promise<void>;
  /** Follows the work on an item. Default: off. */
  follow?: FollowItem | undefined;
}

type FollowItem = <T>(subject: RuleSubject, work: (tell: TellScores) => Promise<T>) => Promise<T>;

/**
 * Scores an execution or trace and completes its item.
 * @returns its cost in this attempt; undefined if nothing was billed
 * @throws RunFailedError if `failsAltogether` is set; a signal's reason or an `AbortError` if it was given up
 */
export function scoreItem(
  scorer: ItemScorer,
  item: OpenItem,
  stops: Stops,
  reservedUsd: number,
): Promise<ExampleCost | undefined> {
  const { follow } = scorer;
  return follow === undefined
    ? scoreAndStore(scorer, item, stops, reservedUsd)
    : follow(item.subject, (tell) => scoreAndStore(scorer, item, stops, reservedUsd, tell));
}

async function scoreAndStore(
  { spec, scorer, store, failsAltogether, step }: ItemScorer,
  item: OpenItem,
  stops: Stops,
  reservedUsd: number,
  tellScores?: TellScores,
): Promise<ExampleCost | undefined> {
  const bill = new CostTally(reservedUsd);
  const { seq, subject } = item;
  let scored: ScoredExampleResult;
  await step();
  try {
    scored = await scorer.score(toExample(item), { seq, stops, bill, ...(tellScores !== undefined && { tellScores }) });
  } catch (error) {
    if (!(error instanceof RunFailedError) || failsAltogether) throw error;
    scored = { scores: new Map(), error: { code: error.code, message: error.message } };
  }
  await store.storeResult({ seq, subject, ...resultOf(spec.name, store, subject, scored) });
  return bill.total;
}

/** The scores to store. A 0 given because the output could not be scored is not a score. */
function resultOf(
  rule: string,
  { evaluators }: RuleStore,
  subject: RuleSubject,
  { scores, error }: ScoredExampleResult,
): Pick<ItemResult, 'scores' | 'error'> {
  const problem = [...scores].find(([, score]) => score.problem !== null);
  return {
    scores: [...scores].flatMap(([name, { score, reason, category, problem: unscored }]) => {
      const { version = '', model = null } = evaluators.get(name) ?? {};
      if (unscored !== null) return [];
      const evaluator = { rule, version, model };
      return [
        {
          name,
          value: score,
          category,
          subject,
          source: 'evaluator' as const,
          author: null,
          evaluator,
          comment: reason,
        },
      ];
    }),
    error: error ?? (problem === undefined ? null : problemOf(...problem)),
  };
}

const problemOf = (name: string, { problem, reason }: Score) => ({
  code: problem ?? 'evaluator_error',
  message: `"${name}": ${reason ?? 'not scored'}`,
});

/** Names the requests to scorers. */
export const requestName = (rule: string, store: RuleStore) => (seq: number) => {
  const subject = store.subjectOf(seq);
  const name = subjectName(subject);
  const header = 'traceId' in subject ? 'X-Trace-Id' : 'X-Execution-Id';
  return { id: `${rule}/${name}`, headers: { 'X-Rule': rule, [header]: name } };
};
