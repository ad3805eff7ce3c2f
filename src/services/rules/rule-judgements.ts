import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { type ArraysOf, arraysOf, now, unnestOf } from '../../db/sql.ts';
import { prepared } from '../../db/statement.ts';
import type { JudgementToStore, StoredJudgement } from '../evaluations/run/judgements-store.ts';
import {
  addedUsage,
  lacksOutcome,
  laterAnswer,
  USAGE_COLUMNS,
  usageArrays,
  usageColumns,
} from '../evaluations/run/stored-usage.ts';
import { raisedCounts } from './rule-items.ts';

/** Identifies a judgement: of an execution, by a version of an evaluator of a rule. */
export interface JudgementKey {
  executionId: string;
  /** Name of the rule. */
  rule: string;
  evaluator: string;
  version: string;
}

const LOAD = prepared<JudgementKey>()((db, { executionId, rule, evaluator, version }) =>
  db
    .selectFrom('rule_judgements')
    .select(['answer as response', 'asks'])
    .where('execution_id', '=', executionId)
    .where('rule', '=', rule)
    .where('evaluator', '=', evaluator)
    .where('version', '=', version)
    .where('answer', 'is not', null)
    .$narrowType<{ response: string }>(),
);

/** @param query bound to the workspace */
export async function loadRuleJudgement(query: Query, key: JudgementKey): Promise<StoredJudgement | undefined> {
  const [row] = await query(LOAD, key);
  return row;
}

/** The outcome of calling a judge, to be stored. */
export interface NewRuleJudgement extends JudgementKey {
  /** The model of the judge. */
  model: string;
  /** UUID of the rule or backfill that pays for it, and the day in UTC. */
  workId: string;
  day: string;
  judgement: JudgementToStore;
  /** The id of this outcome: storing it again has no effect. */
  outcomeId: string;
}

const toRow = ({
  executionId,
  rule,
  evaluator,
  version,
  model,
  workId,
  day,
  judgement,
  outcomeId,
}: NewRuleJudgement) => ({
  execution_id: executionId,
  rule,
  evaluator,
  version,
  model,
  work_id: workId,
  day,
  counted: String(Number(judgement.spent.cost.amount ?? 0) + (judgement.assumedUsd ?? 0)),
  outcome_id: outcomeId,
  answer: judgement.response,
  asks: judgement.asks,
  ...usageColumns(judgement.spent, judgement.assumedUsd),
});

const KEY = ['execution_id', 'rule', 'evaluator', 'version'] as const;
const OUTCOME_COLUMNS = [...KEY, 'model', 'answer', 'asks', ...USAGE_COLUMNS] as const;

/**
 * As for evaluations, a later response replaces an earlier one, and billed usage is added once. The same statement counts it
 * against the budget of the work.
 */
const STORE = prepared<ArraysOf<ReturnType<typeof toRow>>>()((db, given) =>
  db
    .with('given', (cte) =>
      cte
        .selectFrom(
          unnestOf('rows', {
            execution_id: ['uuid', given.execution_id],
            rule: ['text', given.rule],
            evaluator: ['text', given.evaluator],
            version: ['text', given.version],
            model: ['text', given.model],
            work_id: ['uuid', given.work_id],
            day: ['text', given.day],
            counted: ['numeric', given.counted],
            outcome_id: ['uuid', given.outcome_id],
            answer: ['text', given.answer],
            asks: ['integer', given.asks],
            ...usageArrays(given),
          }),
        )
        .selectAll(),
    )
    .with('stored', (cte) =>
      cte
        .insertInto('rule_judgements')
        .columns(['created_at', ...OUTCOME_COLUMNS, 'outcome_ids'])
        .expression((eb) =>
          eb
            .selectFrom('given')
            .select(now.as('created_at'))
            .select(OUTCOME_COLUMNS.map((column) => `given.${column}` as const))
            .select(sql`array[${sql.ref('given.outcome_id')}]`.as('outcome_ids'))
            .orderBy('given.execution_id')
            .orderBy('given.evaluator'),
        )
        .onConflict((conflict) =>
          conflict
            .columns([...KEY])
            .doUpdateSet({ ...laterAnswer('rule_judgements'), ...addedUsage('rule_judgements') })
            .where(lacksOutcome('rule_judgements')),
        )
        .returning([...KEY]),
    )
    .insertInto('rule_days')
    .columns(['work_id', 'day', 'spent'])
    .expression((eb) =>
      eb
        .selectFrom('given')
        .innerJoin('stored', (join) =>
          KEY.reduce((on, column) => on.onRef(`stored.${column}`, '=', `given.${column}`), join),
        )
        .select(['given.work_id', sql<string>`given.day::date`.as('day'), sql<string>`sum(given.counted)`.as('spent')])
        .groupBy(['given.work_id', 'given.day']),
    )
    .onConflict((conflict) => conflict.columns(['work_id', 'day']).doUpdateSet(raisedCounts())),
);

/**
 * Stores the outcomes of calling judges, at most one per execution: all of them or none.
 * @param query bound to the workspace
 */
export async function storeRuleJudgements(query: Query, judgements: readonly NewRuleJudgement[]): Promise<void> {
  await query(STORE, arraysOf(judgements.map(toRow)));
}
