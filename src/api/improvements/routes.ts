import type { Logger } from 'pino';
import { z } from 'zod';
import type { Database, Query } from '../../db/database.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { notFound } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { REFLECTION_MESSAGES } from '../../domain/improvements/reflection.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import { EVENT_STREAM, eventStream, serverSentEvent } from '../../http/event-stream.ts';
import { firstResponse, type Idempotency, idempotencyKeyOf } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { waitMsOf } from '../../http/prefer.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { withdrawWithRetries } from '../../services/acceptance/withdrawal.ts';
import { acceptImprovement } from '../../services/improvements/accept-improvement.ts';
import {
  controlImprovement,
  IMPROVEMENT_CONTROLS,
  type ImprovementControl,
} from '../../services/improvements/control-improvement.ts';
import { createImprovement, withdrawImprovement } from '../../services/improvements/create-improvement.ts';
import { deleteImprovement } from '../../services/improvements/delete-improvement.ts';
import { startImprovementWorkflow } from '../../services/improvements/improvement-workflow.ts';
import {
  type CandidateRow,
  getImprovement,
  type ImprovementRow,
  listCandidates,
  listImprovements,
  readProgress,
} from '../../services/improvements/improvements.ts';
import { planImprovement } from '../../services/improvements/plan-improvement.ts';
import { prepareSuggestion } from '../../services/improvements/suggest.ts';
import { diffVersions } from '../../services/prompts/diff-versions.ts';
import { startReleaseWorkflow } from '../../services/releases/release-workflow.ts';
import type { ProgressHub } from '../../services/streams/progress-hub.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { leaveToReconciliation } from '../../temporal/workflows.ts';
import { type RunExecutionDeps, runExecution } from '../executions/run-execution.ts';
import { PreferHeader } from '../executions/schema.ts';
import { toEvaluators, toReleaseSteps } from '../saved-evaluators/given-evaluators.ts';
import { presentCandidate, presentImprovement, toNewImprovement } from './presenter.ts';
import {
  candidateDiffs,
  candidateSample,
  createSamples,
  estimateSample,
  improvementSample,
  suggestionSample,
  suggestSamples,
} from './samples.ts';
import {
  AcceptImprovement,
  Candidate,
  CandidatePage,
  CandidateParams,
  CandidateQuery,
  CreateImprovement,
  Improvement,
  ImprovementEstimate,
  ImprovementPage,
  ImprovementParams,
  ListQuery,
  ReflectionPrompt,
  ResumeImprovement,
  Suggestion,
  SuggestPrompt,
} from './schema.ts';

export interface ImprovementRouteDeps extends RunExecutionDeps {
  db: Database;
  idempotency: Idempotency;
  models: Models;
  quotas: Quotas;
  evaluatorPool: EvaluatorPool;
  log: Logger;
  progress: { improvements: ProgressHub };
}

const tag = 'Improvements';
const sampleEvent = (event: string, improvement: object) =>
  serverSentEvent({ event, data: { type: event, improvement } });
/** How long a caller whose request failed waits for the withdrawal. */
const WITHDRAW_WITHIN_MS = 1_000;

const CONTROLS: Record<ImprovementControl, { summary: string; description: string; audit: AuditAction }> = {
  pause: {
    summary: 'Pause an improvement',
    description: 'Runs in flight finish, and nothing new is started. Repeating the request changes nothing.',
    audit: 'improvement.paused',
  },
  resume: {
    summary: 'Resume a paused improvement, optionally with a higher limit',
    description: 'If its `max_cost` is used up, it needs a higher one.',
    audit: 'improvement.resumed',
  },
  finish: {
    summary: 'End the search of an improvement, and have its verdict now',
    description: 'Proposals in flight are abandoned. Repeating the request changes nothing.',
    audit: 'improvement.finished',
  },
  cancel: {
    summary: 'Cancel an improvement',
    description:
      'Runs in flight are abandoned, and there is no verdict. Its candidates can still be read and accepted.',
    audit: 'improvement.canceled',
  },
  retry: {
    summary: 'Retry a failed improvement from where it was',
    description: 'Its measurements are kept.',
    audit: 'improvement.retried',
  },
};

/** `/improvements` */
export function improvementRoutes(deps: ImprovementRouteDeps): Route[] {
  const { idempotency, models, quotas, evaluatorPool, log, progress } = deps;
  const present = async (query: Query, row: ImprovementRow) => {
    const found = (await readProgress(query, [row.id])).get(row.id);
    return presentImprovement(row, found?.counts ?? {}, found?.base);
  };
  const control = (action: ImprovementControl) => {
    const { audit, ...words } = CONTROLS[action];
    return defineRoute({
      ...words,
      method: 'post',
      path: `/improvements/{id}/${action}`,
      operationId: `${action}Improvement`,
      audit: [audit],
      tag,
      scope: 'execute',
      alsoScope: 'read',
      params: ImprovementParams,
      ...(action === 'resume' && {
        body: ResumeImprovement,
        bodyOptional: true as const,
        bodyExamples: { 'With a higher limit': { max_cost: 5 } },
      }),
      response: Improvement,
      responseExample: improvementSample,
      errors: action === 'retry' ? ['invalid_state', 'quota_exceeded'] : ['invalid_state'],
      handler: async ({ db, params, body }) => {
        const maxCost = (body as z.output<typeof ResumeImprovement> | undefined)?.max_cost;
        return present(db.query, await controlImprovement(deps, db, params.id, action, { maxCost, quotas }));
      },
    });
  };

  return [
    defineRoute({
      method: 'post',
      path: '/improvements',
      operationId: 'createImprovement',
      audit: ['improvement.started'],
      tag,
      summary: 'Create an improvement: a search for a better version of a prompt',
      description:
        'A model rewrites the texts of the prompt from its failures on a part of the dataset. Candidates are measured on another part, and the best ' +
        'one is tested once on examples that nothing has seen. Nothing is changed until a candidate is accepted. The search survives restarts, and spends ' +
        'at most `max_cost`.',
      scope: 'execute',
      alsoScope: 'read',
      status: 201,
      idempotent: true,
      body: CreateImprovement,
      bodyExamples: createSamples,
      response: Improvement,
      responseExample: { ...improvementSample, status: 'running', phase: 'base', verdict: null, finished_at: null },
      errors: ['not_found', 'prompt_archived', 'quota_exceeded', 'temporarily_unavailable'],
      async handler(request) {
        const { db, body } = request;
        const id = newId();
        let stored: ImprovementRow | undefined;
        try {
          const claim = await idempotency.claim(db, idempotencyKeyOf(request), async () => {
            const evaluators = await toEvaluators(request, evaluatorPool, body.evaluators, 'evaluators');
            const { planned } = await planImprovement(db, models, toNewImprovement({ ...body, evaluators }));
            return async (query) => {
              stored = await createImprovement(query, deps, id, planned);
              return { resourceId: id };
            };
          });
          const first = firstResponse(request, claim);
          if (first !== undefined) return first.response;
          const row = stored ?? (await getImprovement(db.query, claim.resourceId));
          if (!claim.isReplay)
            await startImprovementWorkflow(deps, row).catch(leaveToReconciliation(log, { improvement_id: row.id }));
          return await idempotency.remember(request, claim, await present(db.query, row));
        } catch (error) {
          // The caller receives an error, so it must not spend anything.
          const withdraw = () => withdrawImprovement(db, id);
          if (stored !== undefined)
            await withdrawWithRetries(log, { field: 'improvement_id', id, withdraw }, WITHDRAW_WITHIN_MS);
          throw error;
        }
      },
    }),
    defineRoute({
      method: 'post',
      path: '/improvements/estimate',
      operationId: 'estimateImprovement',
      audit: 'none',
      tag,
      summary: 'Estimate what an improvement would cost, and what it could prove',
      description: 'Accepts and refuses the same as `POST /improvements`, and creates nothing.',
      scope: 'read',
      body: CreateImprovement,
      bodyExamples: createSamples,
      response: ImprovementEstimate,
      responseExample: estimateSample,
      errors: ['not_found', 'prompt_archived'],
      async handler(request) {
        const { db, body } = request;
        const evaluators = await toEvaluators(request, evaluatorPool, body.evaluators, 'evaluators');
        return (await planImprovement(db, models, toNewImprovement({ ...body, evaluators }))).estimate;
      },
    }),
    defineRoute({
      method: 'post',
      path: '/improvements/suggest',
      operationId: 'suggestPrompt',
      audit: 'none',
      tag,
      summary: 'Suggest a better prompt from examples that fail, with one call',
      description:
        'A model rewrites texts of the prompt, as for a candidate of an improvement: the same guard refuses other variables, copied examples and new addresses. ' +
        'Nothing is stored as a version, and nothing is measured. Shown examples are never held out by a later improvement. `Prefer: wait=N` (0–300 seconds; ' +
        'default 60) sets the wait for the model; afterwards `status` is not final, and `GET /executions/{id}` has the answer.',
      scope: 'execute',
      alsoScope: 'read',
      status: 201,
      idempotent: true,
      body: SuggestPrompt,
      bodyExamples: suggestSamples,
      headers: PreferHeader,
      response: Suggestion,
      responseExample: suggestionSample,
      errors: ['not_found', 'prompt_archived', 'quota_exceeded', 'temporarily_unavailable'],
      async handler(request) {
        const {
          prompt_name: promptName,
          evaluation_id: evaluationId,
          execution_ids: executionIds,
          ...wanted
        } = request.body;
        const { version, examples, execution, read } = await prepareSuggestion(request.db, {
          ...wanted,
          promptName,
          from: evaluationId === undefined ? { executionIds: executionIds ?? [] } : { evaluationId },
        });
        return runExecution(deps, request, execution, {
          waitMs: waitMsOf(request.header('Prefer')),
          present: (row): z.input<typeof Suggestion> => ({
            prompt_name: promptName,
            prompt_version: version,
            ...read(row.status === 'completed' ? row.output : null),
            examples,
            status: row.status,
            execution_id: publicId('execution', row.id),
            cost: row.cost_amount,
            measured: false,
          }),
        });
      },
    }),
    defineRoute({
      method: 'get',
      path: '/improvements',
      operationId: 'listImprovements',
      tag,
      summary: 'List improvements, newest first',
      scope: 'read',
      query: ListQuery,
      response: ImprovementPage,
      responseExample: { data: [improvementSample], next_cursor: null },
      async handler({ db, query: { limit, cursor, prompt_name: promptName, status } }) {
        const page = await listImprovements(db, { promptName, status }, limit, decodeCursor(cursor, z.uuid()));
        const found = await readProgress(
          db.query,
          page.rows.map(({ id }) => id),
        );
        return toPage(
          page,
          (row) => presentImprovement(row, found.get(row.id)?.counts ?? {}, found.get(row.id)?.base),
          (row) => row.id,
        );
      },
    }),
    defineRoute({
      method: 'get',
      path: '/improvements/reflection-prompt',
      operationId: 'getReflectionPrompt',
      tag,
      summary: 'Retrieve the prompt that asks for candidates unless another is given',
      description: 'A body for `POST /prompts`: store it, change it, and name it in `reflection.prompt`.',
      scope: 'read',
      response: ReflectionPrompt,
      responseExample: { name: 'improvements/reflection', messages: REFLECTION_MESSAGES, model: 'openai/gpt-4.1' },
      handler: async () => ({
        name: 'improvements/reflection',
        messages: REFLECTION_MESSAGES,
        model: 'openai/gpt-4.1',
      }),
    }),
    defineRoute({
      method: 'get',
      path: '/improvements/{id}',
      operationId: 'getImprovement',
      tag,
      summary: 'Retrieve an improvement: its progress, spending and verdict',
      scope: 'read',
      params: ImprovementParams,
      response: Improvement,
      responseExample: improvementSample,
      handler: async ({ db, params }) => present(db.query, await getImprovement(db.query, params.id)),
    }),
    defineRoute({
      method: 'get',
      path: '/improvements/{id}/candidates',
      operationId: 'listImprovementCandidates',
      tag,
      summary: 'List the candidates of an improvement by number',
      scope: 'read',
      params: ImprovementParams,
      query: CandidateQuery,
      response: CandidatePage,
      responseExample: { data: [candidateSample], next_cursor: null },
      async handler({ db, params, query: { limit, cursor } }) {
        const row = await getImprovement(db.query, params.id);
        const after = decodeCursor(cursor, z.string().regex(/^\d{1,3}$/));
        const page = await listCandidates(db.query, row.id, limit, after === undefined ? undefined : Number(after));
        const base = (await readProgress(db.query, [row.id])).get(row.id)?.base;
        return toPage(
          page,
          (each) => presentCandidate(each, row, base),
          ({ number }) => String(number),
        );
      },
    }),
    defineRoute({
      method: 'get',
      path: '/improvements/{id}/candidates/{number}',
      operationId: 'getImprovementCandidate',
      tag,
      summary: 'Retrieve a candidate of an improvement, with what it changes',
      scope: 'read',
      params: CandidateParams,
      response: Candidate,
      responseExample: { ...candidateSample, diffs: candidateDiffs },
      async handler({ db, params }) {
        const row = await getImprovement(db.query, params.id);
        const read = async (number: number) =>
          (await listCandidates(db.query, row.id, 1, number - 1)).rows.find((each) => each.number === number);
        const found = await read(params.number);
        if (found === undefined) throw notFound('This candidate');
        const base = await read(0);
        const parent = found.parent === null ? undefined : await read(found.parent);
        const diffFrom = async (from: CandidateRow | undefined) =>
          from?.content && found.content
            ? diffVersions(
                { ...row.base, ...from.content, version: from.number },
                { ...row.base, ...found.content, version: found.number },
              )
            : [];
        const diffs = found.content && { parent: await diffFrom(parent), base: await diffFrom(base) };
        return { ...presentCandidate(found, row, base), diffs };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/improvements/{id}/stream',
      operationId: 'streamImprovement',
      tag,
      summary: 'Stream the progress of an improvement as server-sent events',
      description:
        'Sends `improvement.progress` with the current improvement, and again after changes, at most about once a second; then ' +
        '`improvement.completed`, `improvement.failed` or `improvement.canceled`. A stream that ends without one of those three was ' +
        'interrupted, or its improvement was deleted: reconnect. Closing the connection cancels nothing.',
      scope: 'read',
      params: ImprovementParams,
      response: z.string(),
      responseContentType: EVENT_STREAM,
      responseExample: [
        sampleEvent('improvement.progress', {
          ...improvementSample,
          status: 'running',
          verdict: null,
          stop_reason: null,
          finished_at: null,
        }),
        sampleEvent('improvement.completed', improvementSample),
      ].join(''),
      errors: ['quota_exceeded'],
      handler: async ({ db, params }) =>
        eventStream(await quotas.stream(db.workspaceId, () => progress.improvements.open(db, params.id))),
    }),
    ...IMPROVEMENT_CONTROLS.map(control),
    defineRoute({
      method: 'post',
      path: '/improvements/{id}/accept',
      operationId: 'acceptImprovement',
      audit: ['improvement.accepted', 'prompt.updated', 'release.started'],
      tag,
      summary: 'Accept a candidate: create a version of it, and optionally a release',
      description:
        'The version is as it was measured, and its commit message is the verdict. Callers without a label get the newest version: give them a label, ' +
        'or accept with a release. Repeating the request changes nothing.',
      scope: ['write', 'publish'],
      alsoScope: 'read',
      params: ImprovementParams,
      body: AcceptImprovement,
      bodyOptional: true,
      bodyExamples: {
        'With a release': { release: { label: 'live', steps: [{ type: 'canary', percent: 5 }, { type: 'promote' }] } },
      },
      response: Improvement,
      responseExample: { ...improvementSample, accepted: { version: 4, release_id: null } },
      errors: ['invalid_state', 'version_conflict', 'prompt_archived', 'quota_exceeded'],
      async handler(request) {
        const { db, params, body, key } = request;
        const { candidate, unproved, base_changed: baseChanged, release } = body;
        const steps = release?.steps && (await toReleaseSteps(request, evaluatorPool, release.steps, 'release.steps'));
        const accepted = await db.transaction((query) =>
          acceptImprovement(query, { models, quotas, mover: { scopes: key.scopes } }, params.id, {
            candidate,
            unproved,
            baseChanged,
            release: release && { id: newId(), ...release, steps },
          }),
        );
        if (accepted.release !== undefined)
          await startReleaseWorkflow(deps, accepted.release).catch(
            leaveToReconciliation(log, { release_id: accepted.release.id }),
          );
        return present(db.query, accepted.row);
      },
    }),
    defineRoute({
      method: 'delete',
      path: '/improvements/{id}',
      operationId: 'deleteImprovement',
      audit: ['improvement.deleted'],
      tag,
      summary: 'Delete an ended improvement, its candidates and their evaluations',
      description: 'Which examples were seen is kept: a later verdict over them needs more proof.',
      scope: 'write',
      alsoScope: 'read',
      params: ImprovementParams,
      response: Improvement,
      responseExample: improvementSample,
      errors: ['invalid_state'],
      async handler({ db, params }) {
        const shownBefore = await present(db.query, await getImprovement(db.query, params.id));
        await deleteImprovement(deps.db, db.workspaceId, params.id);
        return shownBefore;
      },
    }),
  ];
}
