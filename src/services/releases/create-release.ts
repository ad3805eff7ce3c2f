import { randomBytes } from 'node:crypto';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { now } from '../../db/sql.ts';
import { asJson, type Builder } from '../../db/statement.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import {
  checksBySteps,
  NOT_BEGUN,
  personOf,
  type ReleaseActor,
  type ReleaseStep,
  withErrorBound,
  withPromote,
} from '../../domain/releases/release.ts';
import { isFinishedRelease, releaseStates } from '../../domain/releases/release-states.ts';
import { allows } from '../../domain/scopes.ts';
import { EvaluatorList } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import { currentAuthor } from '../audit/acting.ts';
import { recordChange } from '../audit/record-change.ts';
import { findExamples } from '../datasets/find-examples.ts';
import { checkBudget, resolveJudges } from '../evaluations/creation/create-evaluation.ts';
import { INCLUDES_LOCK } from '../prompts/includes.ts';
import type { Mover } from '../prompts/label-policies.ts';
import { policyOf } from '../prompts/label-policies.ts';
import { requireMovable, requireMover } from '../prompts/labels.ts';
import { archived, getPrompt } from '../prompts/prompts.ts';
import { requireMeans } from '../scores/score-metrics.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import {
  askForApproval,
  endRelease,
  firstBegun,
  markSignalPending,
  SERVICE,
  setSplit,
  tell,
} from './change-release.ts';
import { getRelease, lockRelease, type ReleaseRow } from './releases.ts';

export interface NewRelease {
  /** UUID, made by the caller so that it can withdraw a release of which it can't tell whether it was stored. */
  id: string;
  promptName: string;
  label: string;
  /** The candidate. */
  version: number;
  /** Default: those of the label's policy. */
  steps?: ReleaseStep[] | undefined;
  reason: string | null;
  deadline: Date | null;
  metadata: Record<string, string>;
  /** Takes the place of a release that runs. */
  supersede: boolean;
}

/** Shown to whoever gives no steps. */
export const EXAMPLE_STEPS = [
  { type: 'canary', percent: 5 },
  {
    type: 'analyze',
    for: '1h',
    min_executions: 200,
    checks: [{ metric: 'error_rate', against: 'stable', max_increase: 0.01 }],
  },
  { type: 'promote' },
];

/** By whom a request is made. */
export const actorNow = (): ReleaseActor => currentAuthor() ?? SERVICE;

/** @throws ApiError `invalid_request`, `invalid_state` */
async function stepsOf(
  query: Query,
  { label, steps }: NewRelease,
  { scopes, override }: Mover,
): Promise<ReleaseStep[]> {
  const policy = await policyOf(query, label);
  if (steps === undefined) {
    if (policy !== undefined) return policy.steps;
    throw invalidField(
      'steps',
      `is required, since the label "${label}" has no policy (PUT /v1/labels/${label}). For example: ${JSON.stringify(EXAMPLE_STEPS)}`,
    );
  }
  if (policy?.required !== true) return steps;
  const isOverridden = override !== undefined && allows(scopes, 'admin');
  if (!isOverridden)
    throw new ApiError(
      'invalid_state',
      `The label "${label}" moves by the steps of its policy: omit steps. A key with the scope "admin" can use others with {"override": true, "reason": "…"}.`,
    );
  return steps;
}

/** @throws ApiError `not_found`, `invalid_request` */
async function checkEvaluations(
  query: Query,
  models: Models,
  steps: readonly ReleaseStep[],
  called: string[],
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    if (step.type !== 'evaluate') continue;
    await findExamples(query, step.dataset.name, step.dataset.version);
    const evaluators = resolveJudges(models, EvaluatorList.parse(step.evaluators));
    if (step.max_cost !== undefined)
      try {
        checkBudget(models, called, evaluators);
      } catch (error) {
        throw error instanceof ApiError
          ? invalidField(`steps.${index}.max_cost`, error.details?.[0]?.message ?? '')
          : error;
      }
  }
}

/** Public ids of the members, or of the keys that are nobody's, that made the version. The audit log knows them. */
async function authorsOf(query: Query, name: string, version: number): Promise<string[]> {
  const rows = await query((db) =>
    db
      .selectFrom('audit_log')
      .select(['key_id', 'member_id'])
      .where('resource_type', '=', 'prompt')
      .where('resource_id', '=', name)
      .where('action', 'in', ['prompt.created', 'prompt.updated'])
      .where('details', '@>', asJson({ version }))
      .where('key_id', 'is not', null),
  );
  return rows.flatMap(({ key_id: keyId, member_id: memberId }) => {
    if (memberId !== null) return [publicId('member', memberId)];
    return keyId === null ? [] : [publicId('apiKey', keyId)];
  });
}

const selectLabel = (db: Builder, promptId: string, label: string) =>
  db
    .selectFrom('prompt_labels')
    .select(['version', 'release_id'])
    .where('prompt_id', '=', promptId)
    .where('label', '=', label);

/**
 * Locks the label, after the release that runs on it: in the order of those who move it.
 * @throws ApiError `invalid_state` where another release was started meanwhile
 */
async function lockLabel(query: Query, promptId: string, label: string) {
  const [before] = await query((db) => selectLabel(db, promptId, label));
  if (before === undefined) return undefined;
  const running = before.release_id === null ? undefined : await lockRelease(query, before.release_id);
  await lockInWorkspace(query, INCLUDES_LOCK);
  const [at] = await query((db) => selectLabel(db, promptId, label).forUpdate());
  if (at === undefined) return undefined;
  if (at.release_id !== null && at.release_id !== running?.id)
    throw new ApiError(
      'invalid_state',
      `${publicId('release', at.release_id)} was started on this label at the same time.`,
    );
  return { version: at.version, running: at.release_id === null ? undefined : running };
}

/**
 * Ends the release that runs on the label, or refuses another one.
 * @throws ApiError `invalid_state`
 */
async function makeRoom(query: Query, running: ReleaseRow, supersede: boolean, id: string): Promise<void> {
  const named = publicId('release', running.id);
  if (!supersede)
    throw new ApiError(
      'invalid_state',
      `The release ${named} runs on this label (${running.status}): wait for its end, cancel it, or send {"supersede": true} to take its place.`,
    );
  const by = publicId('release', id);
  const decision = { verdict: 'superseded', by: actorNow(), comment: null, numbers: null } as const;
  await endRelease(query, running, 'superseded', `replaced by ${by}`, { decision });
  await markSignalPending(query, running);
  await recordChange(query, 'release.superseded', named, { by });
}

/**
 * Stores a release and makes its candidate known to the label, of which nobody gets it yet. Runs in the caller's transaction.
 * @throws ApiError `not_found`, `prompt_archived`, `insufficient_scope`, `invalid_request`, `invalid_state`, `quota_exceeded`
 */
export async function createRelease(
  query: Query,
  { models, quotas, mover }: { models: Models; quotas: Pick<Quotas, 'check'>; mover: Mover },
  request: NewRelease,
): Promise<ReleaseRow> {
  const { id, promptName, label, version } = request;
  await requireMover(query, label, mover);
  await quotas.check(query, 'executionBytes');
  const candidate = await getPrompt(query, promptName, { version });
  if (candidate.archived_at !== null) throw archived(promptName);
  const at = await lockLabel(query, candidate.id, label);
  if (at === undefined)
    throw invalidField(
      'label',
      `the prompt "${promptName}" has no label "${label}", so there is no stable version to compare with: set it once with PUT /v1/prompts/${promptName}/labels/${label}`,
    );
  if (at.running !== undefined) await makeRoom(query, at.running, request.supersede, id);
  if (at.version === version) throw invalidField('version', `the label "${label}" is on version ${version} already`);
  await requireMovable(query, candidate, label, at.version);
  const steps = withPromote(await stepsOf(query, request, mover)).map(withErrorBound);
  await requireMeans(query, checksBySteps(steps));
  await checkEvaluations(query, models, steps, [candidate.model, ...candidate.fallback_models]);
  const actor = actorNow();
  const starter = personOf(actor);
  const authors = [...(await authorsOf(query, promptName, version)), ...(starter === null ? [] : [starter])];
  await query((db) =>
    db.insertInto('releases').values({
      id,
      prompt_id: candidate.id,
      prompt_name: promptName,
      label,
      stable_version: at.version,
      candidate_version: version,
      steps: asJson(firstBegun(steps.map((step) => ({ ...step, ...NOT_BEGUN })))),
      salt: randomBytes(9).toString('base64url'),
      status: releaseStates.initial,
      reason: request.reason,
      metadata: asJson(request.metadata),
      deadline: request.deadline,
      created_by: asJson(actor),
      authors: [...new Set(authors)],
      created_at: now,
    }),
  );
  const row = await getRelease(query, id);
  await setSplit(query, row, 0, 0);
  await tell(query, 'release.started', row);
  await recordChange(query, 'release.started', publicId('release', id), {
    prompt_name: promptName,
    label,
    stable_version: at.version,
    candidate_version: version,
    ...(mover.override !== undefined && { override: mover.override.reason }),
  });
  return row.steps[0]?.type === 'approve' ? askForApproval(query, row) : row;
}

/**
 * Ends a release whose caller is told that it failed, where it was stored all the same, and forgets its idempotency key. Safe to repeat.
 * @param id UUID
 */
export async function withdrawRelease(db: WorkspaceDatabase, id: string): Promise<void> {
  await db.transaction(async (query) => {
    const row = await lockRelease(query, id);
    if (row === undefined || isFinishedRelease(row.status)) return;
    await endRelease(query, row, 'canceled', 'its creation was never confirmed to its caller');
    await markSignalPending(query, row);
    await query((own) => own.deleteFrom('idempotency_keys').where('resource_id', '=', id));
  });
}
