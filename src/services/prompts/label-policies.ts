import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { Builder } from '../../db/statement.ts';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { checksBySteps, missingSteps, type ReleaseStep, type StoredStep } from '../../domain/releases/release.ts';
import { allows, type Scope } from '../../domain/scopes.ts';
import { isObject } from '../../domain/text/json.ts';
import { namedRows } from '../named-rows.ts';
import { requireMeans } from '../scores/score-metrics.ts';
import { requireRoom } from '../workspaces/quotas.ts';

/** The maximum number of labels of a workspace with a policy. */
const MAX_POLICIES = 100;

/** The caller or release that points a label at a version, or removes it. */
export interface Mover {
  scopes: readonly Scope[];
  /** Moves a label that otherwise moves only by releases, with a reason. Requires `admin`. */
  override?: { reason: string } | undefined;
}

/** How a label moves. */
export interface Policy {
  steps: ReleaseStep[];
  /** Whether it moves only by releases. */
  required: boolean;
}

const POLICIES = namedRows({
  table: 'label_policies',
  select: (db: Builder) => db.selectFrom('label_policies').select(['label', 'steps', 'required', 'updated_at']),
  keys: ['label'],
  bytes: () => sql<number>`pg_column_size(steps)`,
  what: ({ label }) => `A policy of the label "${label}"`,
  json: ['steps'],
  audit: { created: 'label.policy_set', updated: 'label.policy_set', deleted: 'label.policy_removed' },
  onCreate: {},
});

/** The policies of labels, by label. */
export async function policiesOf(query: Query, labels: readonly string[]): Promise<Map<string, Policy>> {
  if (labels.length === 0) return new Map();
  const rows = await query((db) =>
    db.selectFrom('label_policies').select(['label', 'steps', 'required']).where('label', 'in', labels),
  );
  return new Map(rows.map(({ label, ...policy }) => [label, policy as Policy]));
}

export async function policyOf(query: Query, label: string): Promise<Policy | undefined> {
  return (await policiesOf(query, [label])).get(label);
}

/**
 * Makes sure that a label can move without a release.
 * @param releaseId of the active release on it; null: none
 * @returns the audit log details of an override
 * @throws ApiError `invalid_state`, `insufficient_scope`
 */
export async function requireFreeLabel(
  query: Query,
  label: string,
  releaseId: string | null,
  mover: Mover,
): Promise<{ override?: string }> {
  if (releaseId !== null)
    throw new ApiError(
      'invalid_state',
      `The release ${publicId('release', releaseId)} runs on the label "${label}": promote it, roll it back or cancel it first.`,
    );
  const policy = await policyOf(query, label);
  if (policy?.required !== true) return {};
  return requireOverride(mover, {
    why: `The label "${label}" moves only by releases: start one with POST /v1/releases.`,
    what: `The label "${label}" moves only by releases: overriding that requires the scope "admin".`,
  });
}

/**
 * Makes sure that a release has completed its steps before it moves a label that moves only by releases. The steps of the
 * policy are also required, unless an `admin` overrode them when the release started and the policy is older. Comparing the
 * times alone is not enough: a policy that is committed after the release has read it can have an earlier time.
 * @returns the audit log details of an override
 * @throws ApiError `invalid_state`, `insufficient_scope`
 */
export async function requireSteps(
  query: Query,
  release: { id: string; label: string; steps: readonly StoredStep[]; created_at: Date },
  mover: Mover,
): Promise<{ override?: string }> {
  const { label, steps } = release;
  const policy = await POLICIES.find(query, { label });
  if (policy?.required !== true) return {};
  const isDone = ({ state }: StoredStep) => state === 'passed' || state === 'inconclusive';
  const isOverridden = policy.updated_at <= release.created_at && (await wasOverridden(query, release.id));
  const missing = isOverridden ? [] : missingSteps(policy.steps as ReleaseStep[], steps.filter(isDone));
  const open = [...steps.filter((step) => !isDone(step)), ...missing].filter(({ type }) => type !== 'promote');
  if (open.length === 0) return {};
  const names = [...new Set(open.map(({ type }) => type))].join(', ');
  return requireOverride(mover, {
    why: `The label "${label}" requires the steps of its releases, and these are not done: ${names}.`,
    what: `The label "${label}" requires the steps of its releases: to skip them, a key needs the scope "admin".`,
  });
}

/** Whether a release started with an override of the policy's steps, according to the audit log. */
async function wasOverridden(query: Query, releaseId: string): Promise<boolean> {
  const found = await query((db) =>
    db
      .selectFrom('audit_log')
      .select('details')
      .where('resource_type', '=', 'release')
      .where('resource_id', '=', publicId('release', releaseId))
      .where('action', '=', 'release.started'),
  );
  return found.some(({ details }) => isObject(details) && 'override' in details);
}

/** @returns the audit log details of the override. @throws ApiError `invalid_state`, `insufficient_scope` */
export function requireOverride(
  { scopes, override }: Mover,
  { why, what }: { why: string; what: string },
): { override: string } {
  if (override === undefined)
    throw new ApiError(
      'invalid_state',
      `${why} A key with the scope "admin" can move it with {"override": true, "reason": "…"}.`,
    );
  if (!allows(scopes, 'admin')) throw new ApiError('insufficient_scope', what);
  return { override: override.reason };
}

/**
 * Sets or removes (null) the policy of a label. Runs in the caller's transaction.
 * @throws ApiError `quota_exceeded`; `invalid_request` if a check uses scores without a mean
 */
export async function setPolicy(query: Query, label: string, policy: Policy | null): Promise<void> {
  if (policy === null) {
    if ((await POLICIES.lock(query, { label })) !== undefined) await POLICIES.delete(query, { label });
    return;
  }
  const { steps, required } = policy;
  await requireMeans(query, checksBySteps(steps, 'release.steps'));
  const wanted = { values: { steps, required }, details: { steps: steps.map(({ type }) => type), required } };
  const message = `A workspace can have policies for at most ${MAX_POLICIES} labels.`;
  await POLICIES.put(query, { label }, () => wanted, {
    created: () => requireRoom(query, 'label_policies', MAX_POLICIES, message),
  });
}
