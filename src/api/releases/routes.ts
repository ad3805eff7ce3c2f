import type { Logger } from 'pino';
import { z } from 'zod';
import type { AuditAction } from '../../domain/audit.ts';
import { newId, publicId } from '../../domain/ids.ts';
import type { EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import { firstResponse, type Idempotency, idempotencyKeyOf } from '../../http/idempotency.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { Models } from '../../models/model.ts';
import { withdrawWithRetries } from '../../services/acceptance/withdrawal.ts';
import { controlRelease, RELEASE_CONTROLS, type ReleaseControl } from '../../services/releases/control-release.ts';
import { createRelease, withdrawRelease } from '../../services/releases/create-release.ts';
import { readFailures } from '../../services/releases/failures.ts';
import { type Arms, describeArms, NO_ARMS, readArms, readSeries } from '../../services/releases/numbers.ts';
import { startReleaseWorkflow } from '../../services/releases/release-workflow.ts';
import { getRelease, listReleases, type ReleaseRow } from '../../services/releases/releases.ts';
import type { Quotas } from '../../services/workspaces/quotas.ts';
import { releaseWorkflowId } from '../../temporal/names.ts';
import { leaveToReconciliation, type WorkflowStarter } from '../../temporal/workflows.ts';
import { requireSavedScope, toReleaseSteps } from '../saved-evaluators/given-evaluators.ts';
import { createSamples, numbersSample, releaseSample } from './samples.ts';
import {
  ControlRelease,
  CreateRelease,
  ListQuery,
  NumbersQuery,
  PromoteRelease,
  Release,
  ReleaseNumbers,
  ReleasePage,
  ReleaseParams,
} from './schema.ts';

/** Presents a release. */
function presentRelease(row: ReleaseRow, arms: Arms = NO_ARMS): z.input<typeof Release> {
  return {
    id: publicId('release', row.id),
    prompt_name: row.prompt_name,
    label: row.label,
    stable_version: row.stable_version,
    candidate_version: row.candidate_version,
    steps: row.steps.map((step) => ({ ...step })),
    step: row.step,
    percent: row.percent,
    salt: row.salt,
    status: row.status,
    status_reason: row.status_reason,
    reason: row.reason,
    deadline: row.deadline?.toISOString() ?? null,
    metadata: row.metadata,
    approvals: row.approvals,
    decisions: row.decisions,
    arms: describeArms(arms),
    evaluation_id: row.evaluation_id === null ? null : publicId('evaluation', row.evaluation_id),
    workflow_id: releaseWorkflowId(row.id),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    promoted_at: row.promoted_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

export interface ReleaseRouteDeps extends WorkflowStarter {
  idempotency: Idempotency;
  models: Models;
  quotas: Quotas;
  evaluatorPool: EvaluatorPool;
  log: Logger;
}

const tag = 'Releases';
/** How long a caller whose request failed waits for the withdrawal. */
const WITHDRAW_WITHIN_MS = 1_000;

/** What each control does, and its audit log action. */
const CONTROLS: Record<ReleaseControl, { summary: string; description: string; audit: AuditAction }> = {
  approve: {
    summary: 'Approve a release',
    description:
      'Approves the candidate and the results it had when approval was requested. Each key counts once. Requires `publish`.',
    audit: 'release.approved',
  },
  reject: {
    summary: 'Reject a release',
    description: 'The release ends and all callers get the stable version. Requires `publish`.',
    audit: 'release.rejected',
  },
  pause: {
    summary: 'Pause a release',
    description: 'Traffic shares stay unchanged and checks stop until the release is resumed.',
    audit: 'release.paused',
  },
  resume: {
    summary: 'Resume a paused release',
    description: 'A release paused by an inconclusive analysis continues with its next step.',
    audit: 'release.resumed',
  },
  promote: {
    summary: 'Promote the candidate of a release now',
    description:
      'Skips the remaining steps and ends a bake. Requires `publish`. If the label moves only by releases, steps that are not done ' +
      'are skipped only by an `admin` with `override` and `reason`.',
    audit: 'release.promoted',
  },
  rollback: {
    summary: 'Roll back a release to the stable version',
    description:
      'Takes effect immediately, also after the label has moved and the release is baking. Runs in progress finish unchanged.',
    audit: 'release.rolled_back',
  },
  cancel: {
    summary: 'Cancel a release',
    description:
      'The release ends and all callers get the stable version. After the label has moved, roll back or promote instead.',
    audit: 'release.canceled',
  },
};

/** `/releases`: gradual rollouts of versions to labels. */
export function releaseRoutes(deps: ReleaseRouteDeps): Route[] {
  const { idempotency, evaluatorPool, models, quotas } = deps;

  const control = (action: ReleaseControl) => {
    const { summary, description, audit } = CONTROLS[action];
    return defineRoute({
      method: 'post',
      path: `/releases/{id}/${action}`,
      operationId: `${action}Release`,
      audit: [audit, 'label.moved'],
      tag,
      summary,
      description: `${description} Repeating the request changes nothing.`,
      scope: ['write', 'publish'],
      params: ReleaseParams,
      body: action === 'promote' ? PromoteRelease : ControlRelease,
      bodyOptional: true,
      bodyExamples: { 'With a comment': { comment: 'Looks good in the evaluation.' } },
      response: Release,
      responseExample: releaseSample,
      errors: ['invalid_state', 'prompt_archived'],
      async handler({ db, params, body, key }) {
        const { comment, override, reason = '' }: z.output<typeof PromoteRelease> = body;
        const mover = { scopes: key.scopes, override: override && { reason } };
        const row = await controlRelease(deps, db, params.id, action, { mover, comment: comment ?? null });
        return presentRelease(row, (await readArms(db.query, [row.id])).get(row.id));
      },
    });
  };

  return [
    defineRoute({
      method: 'post',
      path: '/releases',
      operationId: 'createRelease',
      audit: ['release.started', 'release.superseded'],
      tag,
      summary: 'Create a release that moves a label step by step',
      description:
        'The steps come from the request or from the policy of the label. The label itself moves at the final `promote` step; until then, a ' +
        'share of callers gets the candidate. A failed check returns all callers to the stable version. A protected label requires `publish`.',
      scope: ['write', 'publish'],
      status: 201,
      idempotent: true,
      body: CreateRelease,
      bodyExamples: createSamples,
      response: Release,
      responseExample: releaseSample,
      errors: ['not_found', 'prompt_archived', 'invalid_state', 'quota_exceeded', 'temporarily_unavailable'],
      async handler(request) {
        const { db, body, key } = request;
        requireSavedScope(
          key,
          (body.steps ?? []).flatMap((step) => ('evaluators' in step ? step.evaluators : [])),
        );
        const { prompt_name: promptName, override, reason = null, deadline = null, ...rest } = body;
        const mover = { scopes: key.scopes, override: override && { reason: reason ?? '' } };
        const id = newId();
        let stored: ReleaseRow | undefined;
        try {
          const claim = await idempotency.claim(db, idempotencyKeyOf(request), async () => {
            const steps = body.steps && (await toReleaseSteps(request, evaluatorPool, body.steps, 'steps'));
            const release = { id, promptName, reason, deadline, ...rest, steps };
            return async (query) => {
              stored = await createRelease(query, { models, quotas, mover }, release);
              return { resourceId: id };
            };
          });
          const first = firstResponse(request, claim);
          if (first !== undefined) return first.response;
          const release = stored ?? (await getRelease(db.query, claim.resourceId));
          if (!claim.isReplay)
            await startReleaseWorkflow(deps, release).catch(
              leaveToReconciliation(deps.log, { release_id: release.id }),
            );
          return await idempotency.remember(request, claim, presentRelease(release));
        } catch (error) {
          // The caller gets an error, so the release must not continue.
          const withdraw = () => withdrawRelease(db, id);
          if (stored !== undefined)
            await withdrawWithRetries(deps.log, { field: 'release_id', id, withdraw }, WITHDRAW_WITHIN_MS);
          throw error;
        }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/releases',
      operationId: 'listReleases',
      tag,
      summary: 'List releases, newest first',
      scope: 'read',
      query: ListQuery,
      response: ReleasePage,
      responseExample: { data: [releaseSample], next_cursor: null },
      async handler({ db, query: { limit, cursor, prompt_name: promptName, label, status } }) {
        const page = await listReleases(db, { promptName, label, status }, limit, decodeCursor(cursor, z.uuid()));
        const arms = await readArms(
          db.query,
          page.rows.map(({ id }) => id),
        );
        return toPage(
          page,
          (row) => presentRelease(row, arms.get(row.id)),
          (row) => row.id,
        );
      },
    }),
    defineRoute({
      method: 'get',
      path: '/releases/{id}/numbers',
      operationId: 'getReleaseNumbers',
      tag,
      summary: 'Retrieve the metrics of both arms over time',
      description:
        'Grouped by creation time of executions, oldest first; the last 1,500 points. Use larger units for long releases.',
      scope: 'read',
      params: ReleaseParams,
      query: NumbersQuery,
      response: ReleaseNumbers,
      responseExample: numbersSample,
      async handler({ db, params, query: { unit } }) {
        const { id } = await getRelease(db.query, params.id);
        const points = await readSeries(db.heavy.query, id, unit);
        return { data: points.map(({ at, ...point }) => ({ at: at.toISOString(), ...point })) };
      },
    }),
    defineRoute({
      method: 'get',
      path: '/releases/{id}',
      operationId: 'getRelease',
      tag,
      summary: 'Retrieve a release: its steps, decisions and metrics',
      scope: 'read',
      params: ReleaseParams,
      response: Release,
      responseExample: releaseSample,
      async handler({ db, params }) {
        const row = await getRelease(db.query, params.id);
        const arms = (await readArms(db.query, [row.id])).get(row.id);
        const failures = arms?.candidate.errors ? await readFailures(db.query, row.id) : [];
        return { ...presentRelease(row, arms), failures };
      },
    }),
    ...RELEASE_CONTROLS.map(control),
  ];
}
