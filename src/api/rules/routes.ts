import { z } from 'zod';
import type { AuditAction } from '../../domain/audit.ts';
import { newId } from '../../domain/ids.ts';
import { requireAlso } from '../../domain/scopes.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  type BackfillControl,
  controlBackfill,
  createBackfill,
  getBackfill,
  listBackfills,
} from '../../services/rules/backfills.ts';
import { countWaiting, deleteRule, RULES, type RuleDeps, type RuleRow, setRule } from '../../services/rules/rules.ts';
import { hasScorer } from '../evaluations/scorer-scope.ts';
import { toExecutionFilter } from '../executions/filter-schema.ts';
import { toEvaluators } from '../saved-evaluators/given-evaluators.ts';
import { toTraceFilter } from '../traces/filter-schema.ts';
import { presentBackfill, presentRule } from './presenter.ts';
import {
  backfillSample,
  createBackfillSample,
  ruleSample,
  setFreeRuleSample,
  setRuleSample,
  setTraceRuleSample,
} from './samples.ts';
import {
  Backfill,
  BackfillPage,
  BackfillParams,
  CreateBackfill,
  ListQuery,
  PutRule,
  ResumeBackfill,
  Rule,
  RuleName,
  RulePage,
  RuleParams,
} from './schema.ts';

export interface RuleRouteDeps extends RuleDeps {
  idempotency: Idempotency;
  evaluatorPool: EvaluatorPool;
}

const tag = 'Rules';

const routes = resource({
  tag,
  path: '/rules',
  name: 'Rule',
  params: RuleParams,
  cursor: RuleName,
  response: Rule,
  page: RulePage,
  sample: ruleSample,
  present: (row: RuleRow) => presentRule(row),
});

/** `/rules`: rules that score executions as they complete, and past executions through backfills. */
export function ruleRoutes(deps: RuleRouteDeps): Route[] {
  const { idempotency, evaluatorPool, models, quotas } = deps;

  const control = (action: Exclude<BackfillControl, 'resume'>, audit: AuditAction, summary: string) =>
    defineRoute({
      method: 'post',
      path: `/rules/{name}/backfills/{id}/${action}`,
      operationId: `${action}Backfill`,
      audit: [audit],
      tag,
      summary,
      description: 'Calls in progress still finish. Repeating the request changes nothing.',
      scope: 'execute',
      params: BackfillParams,
      response: Backfill,
      responseExample: { ...backfillSample, status: action === 'pause' ? 'paused' : 'canceled' },
      errors: ['invalid_state'],
      handler: async ({ db, params }) =>
        presentBackfill(await controlBackfill(db, models, params.name, params.id, action)),
    });

  // Names can contain slashes, so longer paths come first.
  return [
    defineRoute({
      method: 'post',
      path: '/rules/{name}/backfill',
      operationId: 'createBackfill',
      audit: ['rule.backfill_started'],
      tag,
      summary: 'Create a backfill that scores past executions by a rule',
      description:
        'Uses the current rule; later changes to it have no effect. Executions that a judge has already scored are not paid for again. Rules that score traces ' +
        'have no backfills.',
      scope: 'execute',
      status: 201,
      idempotent: true,
      params: RuleParams,
      body: CreateBackfill,
      bodyExamples: { 'A month': createBackfillSample },
      response: Backfill,
      responseExample: backfillSample,
      errors: ['invalid_state', 'quota_exceeded'],
      handler: (request) =>
        idempotency.createOnce(request, async (query) => {
          const id = newId();
          const { since, until, max_cost: maxCost } = request.body;
          const now = new Date();
          const span = { since, until: until === undefined || until > now ? now : until };
          const row = await createBackfill(query, { models, quotas }, request.params.name, id, { ...span, maxCost });
          return { resourceId: id, response: presentBackfill(row) };
        }),
    }),
    defineRoute({
      method: 'get',
      path: '/rules/{name}/backfills',
      operationId: 'listBackfills',
      tag,
      summary: 'List backfills of a rule, newest first',
      scope: 'read',
      params: RuleParams,
      query: ListQuery,
      response: BackfillPage,
      responseExample: { data: [backfillSample], next_cursor: null },
      async handler({ db, params, query: { limit, cursor } }) {
        const page = await listBackfills(db.query, params.name, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, presentBackfill, ({ id }) => id);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/rules/{name}/backfills/{id}',
      operationId: 'getBackfill',
      tag,
      summary: 'Retrieve a backfill and its progress',
      scope: 'read',
      params: BackfillParams,
      response: Backfill,
      responseExample: backfillSample,
      handler: async ({ db, params }) => presentBackfill(await getBackfill(db.query, params.name, params.id)),
    }),
    control('pause', 'rule.backfill_paused', 'Pause a backfill'),
    control('cancel', 'rule.backfill_canceled', 'Cancel a backfill and keep its scores'),
    defineRoute({
      method: 'post',
      path: '/rules/{name}/backfills/{id}/resume',
      operationId: 'resumeBackfill',
      audit: ['rule.backfill_resumed'],
      tag,
      summary: 'Resume a paused backfill, optionally with a higher budget',
      scope: 'execute',
      params: BackfillParams,
      body: ResumeBackfill,
      bodyOptional: true,
      bodyExamples: { 'With a higher budget': { max_cost: 20 } },
      response: Backfill,
      responseExample: backfillSample,
      errors: ['invalid_state'],
      handler: async ({ db, params, body }) =>
        presentBackfill(await controlBackfill(db, models, params.name, params.id, 'resume', body.max_cost)),
    }),
    routes.list({
      summary: 'List rules by name',
      query: ListQuery,
      read: ({ db, query: { limit } }, after) => RULES.list(db.query, limit, after),
    }),
    defineRoute({
      method: 'put',
      path: '/rules/{name}',
      operationId: 'setRule',
      audit: ['rule.created', 'rule.updated'],
      tag,
      summary: 'Create or replace a rule that scores executions as they complete, or traces as they settle',
      description:
        'Omitted fields take their defaults. An `http` evaluator keeps its secret unless another is given; a new secret is in the response and not shown ' +
        'again. A rule with an `http` evaluator also requires the scope `read`.',
      scope: 'execute',
      shows: ['evaluators'],
      params: RuleParams,
      body: PutRule,
      bodyExamples: {
        'Score every run of a group': setFreeRuleSample,
        'Judge a tenth of all runs': setRuleSample,
        'Judge a tenth of the traces of an agent': setTraceRuleSample,
      },
      response: Rule,
      responseExample: ruleSample,
      errors: ['quota_exceeded'],
      async handler(request) {
        const { db, params, body, key } = request;
        if (hasScorer(body.evaluators))
          requireAlso(key.scopes, 'read', 'A rule with an "http" evaluator that receives executions');
        // Runs before the transaction because it can take seconds.
        const evaluators = await toEvaluators(request, evaluatorPool, body.evaluators, 'evaluators');
        const { row, secrets } = await setRule(deps, db, params.name, {
          promptName: body.prompt_name ?? null,
          promptGroup: body.group ?? null,
          label: body.label ?? null,
          filter: body.filter === undefined ? null : toExecutionFilter(body.filter),
          traceFilter: body.trace_filter === undefined ? null : toTraceFilter(body.trace_filter),
          sampleRate: body.sample_rate,
          evaluators,
          maxCostPerDay: body.max_cost_per_day,
          enabled: body.enabled,
        });
        return presentRule(row, { secrets });
      },
    }),
    defineRoute({
      method: 'get',
      path: '/rules/{name}',
      operationId: 'getRule',
      tag,
      summary: 'Retrieve a rule, its counts and its spending',
      scope: 'read',
      params: RuleParams,
      response: Rule,
      responseExample: ruleSample,
      async handler({ db, params }) {
        const row = await RULES.get(db.query, params);
        return presentRule(row, { waiting: await countWaiting(db.query, row.id) });
      },
    }),
    routes.delete({
      summary: 'Delete a rule and its backfills, and keep its scores',
      scope: 'execute',
      audit: ['rule.deleted'],
      remove: ({ db, params }) => deleteRule(db, params.name),
    }),
  ];
}
