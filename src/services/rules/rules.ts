import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import type { Page } from '../../db/read-page.ts';
import { selectPage } from '../../db/read-page.ts';
import { now } from '../../db/sql.ts';
import { asJson, type Builder, prepared, type RowOf } from '../../db/statement.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { type EvaluatorConfig, needsExpected } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import { hasValues } from '../audit/has-values.ts';
import { recordChange } from '../audit/record-change.ts';
import { checkBudget, resolveJudges } from '../evaluations/creation/create-evaluation.ts';
import { openSecrets, sealEvaluators } from '../evaluations/creation/evaluator-secrets.ts';
import type { ExecutionFilter } from '../executions/filter.ts';
import { findScoreDefinitions, lockRulesAndDefinitions } from '../scores/definitions.ts';
import { requireFit } from '../scores/evaluator-fit.ts';
import type { EndpointRules } from '../webhooks/webhooks.ts';
import type { Quotas } from '../workspaces/quotas.ts';

const COLUMNS = [
  'id',
  'name',
  'prompt_name',
  'prompt_group',
  'label',
  'filter',
  'sample_rate',
  'evaluators',
  'max_cost_per_day',
  'enabled',
  'last_error',
  'created_at',
  'updated_at',
] as const;

/** The sums of a rule's days. */
const daysOf = (db: Pick<Builder, 'selectFrom'>) =>
  db
    .selectFrom('rule_days as d')
    .whereRef(sql<string>`d.work_id`, '=', sql.ref<string>('rules.id'))
    .select([
      sql<number>`coalesce(sum(d.scored), 0)::float8`.as('scored'),
      sql<number>`coalesce(sum(d.failed), 0)::float8`.as('failed'),
      sql<number>`coalesce(sum(d.skipped), 0)::float8`.as('skipped'),
      sql<number>`coalesce(sum(d.skipped_budget), 0)::float8`.as('skipped_budget'),
      sql<string>`trim_scale(coalesce(sum(d.spent), 0))::text`.as('spent'),
      sql<string>`trim_scale(coalesce(sum(d.spent) filter (where d.day = (now() at time zone 'UTC')::date), 0))::text`.as(
        'spent_today',
      ),
    ]);

const selectRules = (db: Builder) =>
  db
    .selectFrom('rules')
    .innerJoinLateral(
      (eb) => daysOf(eb as unknown as Builder).as('days'),
      (join) => join.onTrue(),
    )
    .select(COLUMNS.map((column) => `rules.${column}` as const))
    .select(['days.scored', 'days.failed', 'days.skipped', 'days.skipped_budget', 'days.spent', 'days.spent_today'])
    .select('rules.bytes')
    .$narrowType<{ evaluators: EvaluatorConfig[]; filter: ExecutionFilter | null }>();

const FIND = prepared<{ name: string }>()((db, { name }) => selectRules(db).where('rules.name', '=', name));
/** A rule, and what it did so far. */
export type RuleRow = RowOf<typeof FIND>;

/** @throws ApiError `not_found` */
export async function getRule(query: Query, name: string): Promise<RuleRow> {
  const [row] = await query(FIND, { name });
  if (row === undefined) throw notFound('This rule');
  return row;
}

/** Rules by name, a page of at most `limit` behind the name `after`. */
export function listRules(query: Query, limit: number, after: string | undefined): Promise<Page<RuleRow>> {
  return selectPage(
    query,
    {
      select: (db) =>
        selectRules(db).$if(after !== undefined, (all) => all.where('rules.name', '>', after ?? '')) as ReturnType<
          typeof selectRules
        >,
      orderBy: [['name', 'asc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
  );
}

/** Counting goes no further: what waits may be much. */
const MAX_WAITING = 10_000;

/** How many executions wait to be scored; 10,000: that or more. @param workId UUID */
export async function countWaiting(query: Query, workId: string): Promise<number> {
  const [row] = await query((db) =>
    db
      .selectFrom(
        db.selectFrom('rule_items').select('id').where('work_id', '=', workId).limit(MAX_WAITING).as('waiting'),
      )
      .select(sql<number>`count(*)::int`.as('count')),
  );
  return row?.count ?? 0;
}

/** A rule as callers write it. */
export interface NewRule {
  promptName: string | null;
  promptGroup: string | null;
  label: string | null;
  filter: ExecutionFilter | null;
  sampleRate: number;
  evaluators: EvaluatorConfig[];
  /** US dollars, decimal. */
  maxCostPerDay: string | null;
  enabled: boolean;
}

export interface RuleDeps extends EndpointRules {
  models: Models;
  quotas: Quotas;
}

/** @throws ApiError `invalid_request` */
function refuseUnfit(models: Models, evaluators: EvaluatorConfig[], maxCost: string | null, budget: string): void {
  for (const [index, config] of evaluators.entries())
    if (needsExpected(config))
      throw invalidField(
        `evaluators.${index}`,
        `"${config.type}" compares with an expected value, which an execution does not have: give it a value of its own where it takes one, or take another evaluator`,
      );
  if (maxCost === null) return;
  try {
    checkBudget(models, [], evaluators);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw invalidField(budget, error.details?.[0]?.message ?? error.message);
  }
}

/**
 * Creates a rule, or replaces it. Executions that complete from now on are scored by it.
 * @returns `made`: the names of evaluators whose secrets were made now, or given: they are shown this once
 * @throws ApiError `invalid_request`, `quota_exceeded`
 */
export function setRule(
  deps: RuleDeps,
  db: WorkspaceDatabase,
  name: string,
  rule: NewRule,
): Promise<{ row: RuleRow; secrets: ReadonlyMap<string, string> }> {
  const given = resolveJudges(deps.models, rule.evaluators);
  refuseUnfit(deps.models, given, rule.maxCostPerDay, 'max_cost_per_day');
  return db.transaction(async (query) => {
    // Two that create a rule of this name come one after the other.
    await lockInWorkspace(query, `rule ${name}`);
    await lockRulesAndDefinitions(query);
    const names = given.map(({ name: own }) => own);
    await requireFit(query, name, given, await findScoreDefinitions(query, names));
    const [before] = await query((own) => own.selectFrom('rules').selectAll().where('name', '=', name).forUpdate());
    const kept = openSecrets(deps.cipher, before?.evaluator_secrets ?? null);
    const withKept = given.map((config) => {
      const secret = config.type === 'http' && config.secret === undefined ? kept.get(config.name) : undefined;
      return secret === undefined ? config : { ...config, secret };
    });
    const { evaluators, secrets } = sealEvaluators(deps, withKept, 'evaluators');
    const settings = {
      prompt_name: rule.promptName,
      prompt_group: rule.promptGroup,
      label: rule.label,
      filter: rule.filter,
      sample_rate: rule.sampleRate,
      evaluators,
      enabled: rule.enabled,
    };
    const all = openSecrets(deps.cipher, secrets);
    const isSameCost = Number(before?.max_cost_per_day ?? -1) === Number(rule.maxCostPerDay ?? -1);
    if (before !== undefined && hasValues(before, settings) && isSameCost && isDeepStrictEqual(all, kept))
      return { row: await getRule(query, name), secrets: new Map() };
    const values = {
      ...settings,
      filter: asJson<object | null>(rule.filter),
      evaluators: asJson(evaluators),
      evaluator_secrets: secrets,
      max_cost_per_day: rule.maxCostPerDay,
      updated_at: now,
    };
    if (before === undefined)
      await query((own) => own.insertInto('rules').values({ id: newId(), name, ...values, created_at: now }));
    else
      await query((own) =>
        own
          .updateTable('rules')
          .set((eb) => ({ ...values, revision: eb('revision', '+', 1), last_error: null }))
          .where('id', '=', before.id),
      );
    await recordChange(query, before === undefined ? 'rule.created' : 'rule.updated', name, {
      sample_rate: rule.sampleRate,
      enabled: rule.enabled,
    });
    if (before === undefined) await deps.quotas.require(query, 'rules');
    return {
      row: await getRule(query, name),
      secrets: new Map([...all].filter(([evaluator, secret]) => kept.get(evaluator) !== secret)),
    };
  });
}

/**
 * Deletes a rule with its backfills. Its scores and its usage stay; what waits for it is deleted by a recurring task.
 * @throws ApiError `not_found`
 */
export function deleteRule(db: WorkspaceDatabase, name: string): Promise<RuleRow> {
  return db.transaction(async (query) => {
    // Of two that delete it one comes after the other.
    await lockInWorkspace(query, `rule ${name}`);
    const row = await getRule(query, name);
    await query((own) =>
      own
        .deleteFrom('rule_days')
        .where((eb) =>
          eb.or([
            eb('work_id', '=', row.id),
            eb('work_id', 'in', eb.selectFrom('rule_backfills as b').select('b.id').where('b.rule_id', '=', row.id)),
          ]),
        ),
    );
    await query((own) => own.deleteFrom('rules').where('id', '=', row.id));
    await recordChange(query, 'rule.deleted', name);
    return row;
  });
}
