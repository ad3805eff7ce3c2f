import type { Logger } from 'pino';
import { z } from 'zod';
import type { AuditAction } from '../../domain/audit.ts';
import { publicId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import { idParams } from '../../http/fields.ts';
import { firstResponse, type Idempotency, idempotencyKeyOf } from '../../http/idempotency.ts';
import { PageQuery } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { storeOnce } from '../../services/acceptance/store-once.ts';
import {
  type EvaluatorSecrets,
  readSecrets,
  revealSecrets,
  sealEvaluators,
} from '../../services/evaluations/creation/evaluator-secrets.ts';
import { deleteSchedule, setSchedulePaused, triggerSchedule } from '../../services/schedules/control-schedule.ts';
import { giveUpSchedule, startSchedule, storeSchedule } from '../../services/schedules/create-schedule.ts';
import { getSchedule, SCHEDULES, type ScheduleRow } from '../../services/schedules/schedules.ts';
import { dueTimes, type Temporal } from '../../services/schedules/temporal-schedule.ts';
import type { EndpointRules } from '../../services/webhooks/webhooks.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import type { ScheduledEvaluation } from '../evaluations/create-schema.ts';
import { hasScorer, requireScorerScope } from '../evaluations/scorer-scope.ts';
import { toNewEvaluation } from '../evaluations/to-new-evaluation.ts';
import { requireSavedScope, toEvaluators } from '../saved-evaluators/given-evaluators.ts';
import { CreateSchedule, Schedule, SchedulePage } from './schema.ts';

/** Presents a schedule. @param due its next due times; undefined to omit them */
function presentSchedule(row: ScheduleRow, due?: Date[]): z.input<typeof Schedule> {
  return {
    id: publicId('schedule', row.id),
    name: row.name,
    cron: row.cron,
    time_zone: row.time_zone,
    paused: row.paused,
    evaluation: row.request.body,
    ...(due && { next_runs: due.map((time) => time.toISOString()) }),
    last_error: row.last_error,
    created_at: row.created_at.toISOString(),
  };
}

/** The same with the secrets of its evaluators, for the one response that shows them. */
function presentNewSchedule(row: ScheduleRow, due: Date[], secrets: EvaluatorSecrets): z.input<typeof Schedule> {
  const { body, parsed } = row.request;
  const evaluators: JsonValue = JSON.parse(JSON.stringify(revealSecrets(parsed.evaluators, secrets)));
  return { ...presentSchedule(row, due), evaluation: { ...body, evaluators } };
}

const evaluation = { prompt_name: 'support/greeting', dataset: 'support/questions', threshold: 0.9 };
const scheduleSample = {
  id: 'sched_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  name: 'every weekday',
  cron: '0 6 * * 1-5',
  time_zone: 'Europe/Berlin',
  paused: false,
  evaluation,
  next_runs: ['2026-02-02T05:00:00.000Z'],
  last_error: null,
  created_at: '2026-01-31T12:00:00.000Z',
};

const newScheduleSample = {
  name: 'every weekday',
  cron: '0 6 * * 1-5',
  time_zone: 'Europe/Berlin',
  evaluation,
};

const tag = 'Schedules';
const ScheduleParams = idParams('schedule');

const nextRuns = async (deps: Temporal, { id }: ScheduleRow) => (await dueTimes(deps, id)) ?? [];

/** The evaluation as JSON, with its defaults filled in. */
function toBody(parsed: z.output<typeof ScheduledEvaluation>): Record<string, JsonValue> {
  const body: Record<string, JsonValue> = JSON.parse(JSON.stringify(parsed));
  return body;
}

/** `/schedules`: recurring evaluations. */
export function scheduleRoutes(
  deps: WorkflowStarter &
    EndpointRules & { idempotency: Idempotency; quotas: Quotas; evaluatorPool: EvaluatorPool; log: Logger },
): Route[] {
  const routes = resource({
    tag,
    path: '/schedules',
    name: 'Schedule',
    params: ScheduleParams,
    cursor: z.uuid(),
    response: Schedule,
    page: SchedulePage,
    sample: scheduleSample,
    present: (row: ScheduleRow) => presentSchedule(row),
  });
  const action = (name: string, audited: AuditAction, summary: string, run: typeof triggerSchedule) =>
    defineRoute({
      method: 'post',
      path: `/schedules/{id}/${name}`,
      operationId: `${name}Schedule`,
      audit: [audited],
      tag,
      summary,
      scope: 'execute',
      params: ScheduleParams,
      response: Schedule,
      responseExample: { ...scheduleSample, paused: name === 'pause' },
      errors: ['temporarily_unavailable'],
      async handler({ db, params }) {
        const row = await run(deps, db, params.id);
        return presentSchedule(row, await nextRuns(deps, row));
      },
    });

  return [
    defineRoute({
      method: 'post',
      path: '/schedules',
      operationId: 'createSchedule',
      audit: ['schedule.created'],
      tag,
      summary: 'Create a schedule of evaluations',
      description:
        'Each run starts an evaluation with the prompt, label and dataset as they are at that time. ' +
        'The response contains the secrets of its `http` evaluators, which are not shown again. An `http` evaluator over a dataset also requires `read`.',
      scope: 'execute',
      shows: ['evaluation', 'last_error'],
      status: 201,
      idempotent: true,
      body: CreateSchedule,
      bodyExamples: { 'Every weekday at six': newScheduleSample },
      response: Schedule,
      responseExample: scheduleSample,
      errors: ['temporarily_unavailable', 'quota_exceeded', 'payload_too_large'],
      async handler(request) {
        const { db } = request;
        const { name, cron, time_zone: timeZone, paused, evaluation: given } = request.body;
        requireScorerScope(request.key, given);
        requireSavedScope(request.key, given.evaluators);
        const hasSecret = hasScorer(given.evaluators);
        const claim = await storeOnce(deps, db, idempotencyKeyOf(request, { hasSecret }), {
          quota: 'schedules',
          async prepare() {
            const path = 'evaluation.evaluators';
            const checked = await toEvaluators(request, deps.evaluatorPool, given.evaluators, path);
            return (query, id) => {
              const { evaluators, secrets } = sealEvaluators(deps, checked, path);
              const evaluation = { ...given, evaluators };
              const stored = { body: toBody(evaluation), parsed: toNewEvaluation(evaluation) };
              const schedule = { name, cron, timeZone, paused, request: stored, evaluatorSecrets: secrets };
              return storeSchedule(query, id, schedule);
            };
          },
          giveUp: (id) => giveUpSchedule(deps.log, db, id),
        });
        const first = firstResponse(request, claim);
        if (first !== undefined) return first.response;
        const { resourceId: id, isReplay } = claim;
        try {
          const { row, due } = await startSchedule(deps, db, id);
          const response = presentNewSchedule(row, due, await readSecrets(db.query, deps.cipher, 'schedules', id));
          return await deps.idempotency.remember(request, claim, response);
        } catch (error) {
          if (!isReplay) await giveUpSchedule(deps.log, db, id);
          throw error;
        }
      },
    }),
    routes.list({
      summary: 'List schedules, newest first',
      query: z.strictObject(PageQuery),
      read: ({ db, query: { limit } }, after) => SCHEDULES.list(db.query, limit, after),
    }),
    defineRoute({
      method: 'get',
      path: '/schedules/{id}',
      operationId: 'getSchedule',
      tag,
      summary: 'Retrieve a schedule and its next runs',
      scope: 'read',
      params: ScheduleParams,
      response: Schedule,
      responseExample: scheduleSample,
      async handler({ db, params }) {
        const row = await getSchedule(db, params.id);
        return presentSchedule(row, await nextRuns(deps, row));
      },
    }),
    action('pause', 'schedule.paused', 'Pause a schedule', (temporal, db, id) =>
      setSchedulePaused(temporal, db, id, true),
    ),
    action('resume', 'schedule.resumed', 'Resume a paused schedule', (temporal, db, id) =>
      setSchedulePaused(temporal, db, id, false),
    ),
    action('trigger', 'schedule.triggered', 'Trigger a schedule now', triggerSchedule),
    routes.delete({
      summary: 'Delete a schedule and keep its evaluations',
      scope: 'execute',
      audit: ['schedule.deleted'],
      remove: ({ db, params }) => deleteSchedule(deps, db, params.id),
    }),
  ];
}
