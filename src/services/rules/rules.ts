import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { Builder } from '../../db/statement.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import { type EvaluatorConfig, needsExpected } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import { checkBudget } from '../evaluations/creation/create-evaluation.ts';
import { openSecrets, sealEvaluators } from '../evaluations/creation/evaluator-secrets.ts';
import type { ExecutionFilter } from '../executions/filter.ts';
import { namedRows, type RowIn } from '../named-rows.ts';
import { resolveJudges } from '../saved-evaluators/resolve-judges.ts';
import { findScoreDefinitions, lockRulesAndDefinitions } from '../scores/definitions.ts';
import { requireFit } from '../scores/evaluator-fit.ts';
import type { TraceFilter } from '../traces/traces.ts';
import type { EndpointRules } from '../webhooks/webhooks.ts';
import type { Quotas } from '../workspaces/quotas.ts';

const COLUMNS = [
  'id',
  'name',
  'prompt_name',
  'prompt_group',
  'label',
  'filter',
  'trace_filter',
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
    .$narrowType<{ evaluators: EvaluatorConfig[]; filter: ExecutionFilter | null; trace_filter: TraceFilter | null }>();

export const RULES = namedRows({
  table: 'rules',
  select: selectRules,
  of: 'rules',
  keys: ['name'],
  bytes: (eb) => eb.ref('bytes'),
  what: 'This rule',
  json: ['filter', 'trace_filter', 'evaluators'],
  audit: { created: 'rule.created', updated: 'rule.updated', deleted: 'rule.deleted' },
  onReplace: { revision: sql<number>`${sql.ref('rules.revision')} + 1`, last_error: null },
});
/** A rule, and its progress so far. */
export type RuleRow = RowIn<typeof RULES>;

/** The maximum to count, because many may wait. */
const MAX_WAITING = 10_000;

/** The number of executions or traces waiting to be scored; 10,000 means at least that many. @param workId UUID */
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

/** A rule as written by a caller. */
export interface NewRule {
  promptName: string | null;
  promptGroup: string | null;
  label: string | null;
  filter: ExecutionFilter | null;
  /** Set for a rule that scores traces. */
  traceFilter: TraceFilter | null;
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
        `"${config.type}" compares with an expected value, which executions and traces do not have: set a value in its options if it has such an option, or use another evaluator`,
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
 * Creates or replaces a rule, which scores executions that complete, or traces that settle, from now on.
 * @returns `made`: the names of evaluators whose secrets were generated or passed now, and are shown this once
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
    await lockRulesAndDefinitions(query);
    const names = given.map(({ name: own }) => own);
    await requireFit(query, name, given, await findScoreDefinitions(query, names));
    const made = new Map<string, string>();
    const row = await RULES.put(
      query,
      { name },
      async (before) => {
        const kept = openSecrets(deps.cipher, before === undefined ? null : await secretsOf(query, before));
        const withKept = given.map((config) => {
          const secret = config.type === 'http' && config.secret === undefined ? kept.get(config.name) : undefined;
          return secret === undefined ? config : { ...config, secret };
        });
        const { evaluators, secrets } = sealEvaluators(deps, withKept, 'evaluators');
        const all = openSecrets(deps.cipher, secrets);
        for (const [evaluator, secret] of all) if (kept.get(evaluator) !== secret) made.set(evaluator, secret);
        const isSameCost = Number(before?.max_cost_per_day ?? -1) === Number(rule.maxCostPerDay ?? -1);
        return {
          values: {
            prompt_name: rule.promptName,
            prompt_group: rule.promptGroup,
            label: rule.label,
            filter: rule.filter,
            trace_filter: rule.traceFilter,
            sample_rate: rule.sampleRate,
            evaluators,
            enabled: rule.enabled,
          },
          besides: { evaluator_secrets: secrets, max_cost_per_day: rule.maxCostPerDay },
          isSame: isSameCost && isDeepStrictEqual(all, kept),
          details: { sample_rate: rule.sampleRate, enabled: rule.enabled },
        };
      },
      { created: () => deps.quotas.require(query, 'rules') },
    );
    return { row, secrets: made };
  });
}

async function secretsOf(query: Query, { id }: RuleRow): Promise<Buffer | null> {
  const [row] = await query((own) => own.selectFrom('rules').select('evaluator_secrets').where('id', '=', id));
  return row?.evaluator_secrets ?? null;
}

/**
 * Deletes a rule with its backfills. Its scores and usage are kept; a recurring task deletes its waiting items.
 * @throws ApiError `not_found`
 */
export const deleteRule = (db: WorkspaceDatabase, name: string): Promise<RuleRow> =>
  db.transaction((query) =>
    RULES.delete(
      query,
      { name },
      {
        async first({ id }) {
          await query((own) =>
            own
              .deleteFrom('rule_days')
              .where((eb) =>
                eb.or([
                  eb('work_id', '=', id),
                  eb('work_id', 'in', eb.selectFrom('rule_backfills as b').select('b.id').where('b.rule_id', '=', id)),
                ]),
              ),
          );
        },
      },
    ),
  );
