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
import type { RuleSubject } from './rule-work.ts';

/** Identifies a judgement: of an execution or trace, by a version of an evaluator of a rule. */
export interface JudgementKey {
  subject: RuleSubject;
  /** Name of the rule. */
  rule: string;
  evaluator: string;
  version: string;
}

type StoredKey = Omit<JudgementKey, 'subject'> & { id: string };

const LOAD = prepared<StoredKey>()((db, { id, rule, evaluator, version }) =>
  db
    .selectFrom('rule_judgements')
    .select(['answer as response', 'asks'])
    .where('execution_id', '=', id)
    .where('rule', '=', rule)
    .where('evaluator', '=', evaluator)
    .where('version', '=', version)
    .where('answer', 'is not', null)
    .$narrowType<{ response: string }>(),
);
const LOAD_OF_TRACE = prepared<StoredKey>()((db, { id, rule, evaluator, version }) =>
  db
    .selectFrom('trace_judgements')
    .select(['answer as response', 'asks'])
    .where('trace_id', '=', id)
    .where('rule', '=', rule)
    .where('evaluator', '=', evaluator)
    .where('version', '=', version)
    .where('answer', 'is not', null)
    .$narrowType<{ response: string }>(),
);

/** @param query bound to the workspace */
export async function loadRuleJudgement(
  query: Query,
  { subject, ...key }: JudgementKey,
): Promise<StoredJudgement | undefined> {
  const [row] =
    'traceId' in subject
      ? await query(LOAD_OF_TRACE, { ...key, id: subject.traceId })
      : await query(LOAD, { ...key, id: subject.executionId });
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

const toRow = ({ subject, rule, evaluator, version, model, workId, day, judgement, outcomeId }: NewRuleJudgement) => ({
  subject_id: 'traceId' in subject ? subject.traceId : subject.executionId,
  is_trace: 'traceId' in subject,
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

const EVALUATOR = ['rule', 'evaluator', 'version'] as const;
const OUTCOME_COLUMNS = [...EVALUATOR, 'model', 'answer', 'asks', ...USAGE_COLUMNS] as const;
const OF_GIVEN = OUTCOME_COLUMNS.map((column) => `given.${column}` as const);
const outcomeIds = sql<string[]>`array[${sql.ref('given.outcome_id')}]`.as('outcome_ids');

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
            subject_id: ['uuid', given.subject_id],
            is_trace: ['boolean', given.is_trace],
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
        .columns(['execution_id', 'created_at', ...OUTCOME_COLUMNS, 'outcome_ids'])
        .expression((eb) =>
          eb
            .selectFrom('given')
            .select(['given.subject_id', now.as('created_at'), ...OF_GIVEN, outcomeIds])
            .where('given.is_trace', '=', sql.lit(false))
            .orderBy('given.subject_id')
            .orderBy('given.evaluator'),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['execution_id', ...EVALUATOR])
            .doUpdateSet({ ...laterAnswer('rule_judgements'), ...addedUsage('rule_judgements') })
            .where(lacksOutcome('rule_judgements')),
        )
        .returning(['execution_id as subject_id', ...EVALUATOR]),
    )
    // Locked, so that none is stored for a trace that is being deleted.
    .with('held', (cte) =>
      cte
        .selectFrom('traces')
        .select('traces.id')
        .where('traces.id', 'in', (eb) =>
          eb.selectFrom('given').select('given.subject_id').where('given.is_trace', '=', sql.lit(true)),
        )
        .orderBy('traces.id')
        .forKeyShare(),
    )
    .with('stored_of_traces', (cte) =>
      cte
        .insertInto('trace_judgements')
        .columns(['trace_id', 'created_at', ...OUTCOME_COLUMNS, 'outcome_ids'])
        .expression((eb) =>
          eb
            .selectFrom('given')
            .innerJoin('held', 'held.id', 'given.subject_id')
            .select(['given.subject_id', now.as('created_at'), ...OF_GIVEN, outcomeIds])
            .orderBy('given.subject_id')
            .orderBy('given.evaluator'),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['workspace_id', 'trace_id', ...EVALUATOR])
            .doUpdateSet({ ...laterAnswer('trace_judgements'), ...addedUsage('trace_judgements') })
            .where(lacksOutcome('trace_judgements')),
        )
        .returning(['trace_id as subject_id', ...EVALUATOR]),
    )
    .with('paid', (cte) =>
      cte.selectFrom('stored').selectAll().unionAll(cte.selectFrom('stored_of_traces').selectAll()),
    )
    .insertInto('rule_days')
    .columns(['work_id', 'day', 'spent'])
    .expression((eb) =>
      eb
        .selectFrom('given')
        .innerJoin('paid', (join) =>
          (['subject_id', ...EVALUATOR] as const).reduce(
            (on, column) => on.onRef(`paid.${column}`, '=', `given.${column}`),
            join,
          ),
        )
        .select(['given.work_id', sql<string>`given.day::date`.as('day'), sql<string>`sum(given.counted)`.as('spent')])
        .groupBy(['given.work_id', 'given.day']),
    )
    .onConflict((conflict) => conflict.columns(['work_id', 'day']).doUpdateSet(raisedCounts())),
);

/**
 * Stores the outcomes of calling judges, at most one per execution or trace: all of them or none. Those about traces that are gone are not stored.
 * @param query bound to the workspace
 */
export async function storeRuleJudgements(query: Query, judgements: readonly NewRuleJudgement[]): Promise<void> {
  await query(STORE, arraysOf(judgements.map(toRow)));
}
