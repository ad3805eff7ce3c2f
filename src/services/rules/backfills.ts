import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { milliseconds, now } from '../../db/sql.ts';
import { changeState } from '../../db/state-change.ts';
import { asJson, type Builder, prepared, type RowOf } from '../../db/statement.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { idsOfSpan, publicId } from '../../domain/ids.ts';
import { type BackfillStatus, backfillStates } from '../../domain/rules/backfill-states.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import { recordChange } from '../audit/record-change.ts';
import { checkBudget } from '../evaluations/creation/create-evaluation.ts';
import { findScoreDefinitions, lockRulesAndDefinitions } from '../scores/definitions.ts';
import { firstMisfit } from '../scores/evaluator-fit.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { RULES } from './rules.ts';

/** The maximum number of unfinished backfills of a rule. */
const MAX_UNFINISHED = 10;

const selectBackfills = (db: Builder) =>
  db
    .selectFrom('rule_backfills')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('rule_days as d')
          .whereRef('d.work_id', '=', 'rule_backfills.id')
          .select([
            sql<number>`coalesce(sum(d.scored), 0)::float8`.as('scored'),
            sql<number>`coalesce(sum(d.failed), 0)::float8`.as('failed'),
            sql<string>`trim_scale(coalesce(sum(d.spent), 0))::text`.as('spent'),
          ])
          .as('days'),
      (join) => join.onTrue(),
    )
    .select(
      (
        [
          'id',
          'rule_id',
          'name',
          'since',
          'until',
          'max_cost',
          'status',
          'status_reason',
          'error',
          'last_error',
          'position',
          'exhausted',
          'found',
          'bytes',
          'created_at',
          'finished_at',
        ] as const
      ).map((column) => `rule_backfills.${column}` as const),
    )
    .select(['days.scored', 'days.failed', 'days.spent']);

const FIND = prepared<{ name: string; id: string }>()((db, { name, id }) =>
  selectBackfills(db)
    .innerJoin('rules as r', 'r.id', 'rule_backfills.rule_id')
    .where('r.name', '=', name)
    .where('rule_backfills.id', '=', id),
);
/** A backfill, and its progress so far. */
export type BackfillRow = RowOf<typeof FIND>;

/** @throws ApiError `not_found` */
export async function getBackfill(query: Query, name: string, id: string): Promise<BackfillRow> {
  const [row] = await query(FIND, { name, id });
  if (row === undefined) throw notFound('This backfill');
  return row;
}

/**
 * Backfills of a rule, newest first: a page of at most `limit` before the id `before`.
 * @throws ApiError `not_found`
 */
export async function listBackfills(
  query: Query,
  name: string,
  limit: number,
  before: string | undefined,
): Promise<Page<BackfillRow>> {
  const { id: ruleId } = await RULES.get(query, { name });
  return selectPage(
    query,
    {
      select: (db) => {
        const all = selectBackfills(db).where('rule_backfills.rule_id', '=', ruleId);
        return before === undefined ? all : all.where('rule_backfills.id', '<', before);
      },
      orderBy: [['id', 'desc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
  );
}

export interface NewBackfill {
  since: Date;
  /** At the latest now. */
  until: Date;
  /** US dollars, decimal. */
  maxCost: string | null;
}

/**
 * Stores a backfill, which a recurring task starts. It uses the rule as it is now.
 * @param id UUID
 * @throws ApiError `not_found`, `invalid_request`, `invalid_state`, `quota_exceeded`
 */
export async function createBackfill(
  query: Query,
  { models, quotas }: { models: Models; quotas: Pick<Quotas, 'check'> },
  name: string,
  id: string,
  { since, until, maxCost }: NewBackfill,
): Promise<BackfillRow> {
  // Before the row of the rule, like a change of the rule: otherwise both could wait for each other.
  await lockRulesAndDefinitions(query);
  const [rule] = await query((own) =>
    own
      .selectFrom('rules')
      .select([
        'id',
        'prompt_name',
        'prompt_group',
        'label',
        'filter',
        'trace_filter',
        'sample_rate',
        'evaluators',
        'evaluator_secrets',
      ])
      .where('name', '=', name)
      .forUpdate(),
  );
  if (rule === undefined) throw notFound('This rule');
  if (rule.trace_filter !== null)
    throw new ApiError(
      'invalid_request',
      `The rule "${name}" scores traces as they settle: backfills are only for rules that score executions.`,
    );
  await quotas.check(query, 'executionBytes');
  const configs = rule.evaluators as EvaluatorConfig[];
  const definitions = await findScoreDefinitions(
    query,
    configs.map((config) => config.name),
  );
  // The rule may be older than this check.
  const found = firstMisfit(configs, definitions);
  if (found !== undefined)
    throw new ApiError('invalid_state', `The evaluator "${found.config.name}" does not fit: ${found.misfit}.`);
  if (maxCost !== null) checkBudget(models, [], configs);
  const [unfinished] = await query((own) =>
    own
      .selectFrom('rule_backfills')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('rule_id', '=', rule.id)
      .where('status', 'in', ['running', 'paused']),
  );
  if ((unfinished?.count ?? 0) >= MAX_UNFINISHED)
    throw new ApiError(
      'invalid_state',
      `The rule "${name}" has ${MAX_UNFINISHED} unfinished backfills: cancel one, or wait for one to end.`,
    );
  const { id: ruleId, filter, evaluators, trace_filter: _, ...copied } = rule;
  await query((own) =>
    own.insertInto('rule_backfills').values({
      id,
      rule_id: ruleId,
      name,
      ...copied,
      filter: asJson(filter),
      evaluators: asJson(evaluators),
      since,
      until,
      max_cost: maxCost,
      status: backfillStates.initial,
      position: idsOfSpan(since, until).from,
      created_at: now,
    }),
  );
  await recordChange(query, 'rule.backfill_started', name, { backfill_id: publicId('backfill', id) });
  return getBackfill(query, name, id);
}

export type BackfillControl = 'pause' | 'resume' | 'cancel';

const CONTROLS: Record<BackfillControl, { to: BackfillStatus; from: BackfillStatus[]; audit: AuditAction }> = {
  pause: { to: 'paused', from: ['running'], audit: 'rule.backfill_paused' },
  resume: { to: 'running', from: ['paused'], audit: 'rule.backfill_resumed' },
  cancel: { to: 'canceled', from: ['running', 'paused'], audit: 'rule.backfill_canceled' },
};

/** How long running work may continue after a pause before it is started again: the process that has it checks once a second. */
const SETTLED_MS = 2_000;

/**
 * Pauses, resumes or cancels a backfill. Repeating it has no effect. Work in flight still finishes.
 * @param maxCost of `resume`: a higher budget, or null for none
 * @throws ApiError `not_found`, `invalid_state`, `invalid_request`
 */
export function controlBackfill(
  db: WorkspaceDatabase,
  models: Models,
  name: string,
  id: string,
  control: BackfillControl,
  maxCost?: string | null,
): Promise<BackfillRow> {
  const { to, from, audit } = CONTROLS[control];
  const change = changeState(backfillStates, { to, from });
  return db.transaction(async (query) => {
    const [locked] = await query((own) =>
      own.selectFrom('rule_backfills').select(['status', 'evaluators']).where('id', '=', id).forUpdate(),
    );
    const row = await getBackfill(query, name, id);
    if (locked === undefined || (row.status === to && maxCost === undefined)) return row;
    if (!from.includes(row.status)) {
      const ended = backfillStates.final.includes(row.status);
      throw new ApiError(
        'invalid_state',
        ended ? `This backfill has ended as ${row.status}.` : `This backfill is ${row.status}: it can't ${control}.`,
      );
    }
    if (typeof maxCost === 'string') {
      if (Number(maxCost) <= Number(row.spent))
        throw invalidField('max_cost', `must be above what the backfill has cost so far, ${row.spent} USD`);
      checkBudget(models, [], locked.evaluators as EvaluatorConfig[]);
    }
    await query((own) =>
      own
        .updateTable('rule_backfills')
        .set({
          ...change.set,
          status_reason: control === 'pause' ? 'by request' : null,
          ...(maxCost !== undefined && { max_cost: maxCost }),
          ...(control === 'resume' && { check_at: sql<Date>`now() + ${milliseconds(SETTLED_MS)}` }),
          ...(control === 'cancel' && { finished_at: now }),
        })
        .where('id', '=', id)
        .where(change.where),
    );
    await recordChange(query, audit, name, { backfill_id: publicId('backfill', id) });
    return getBackfill(query, name, id);
  });
}
