import { access } from './capabilities/access.ts';
import { auditLog } from './capabilities/audit-log.ts';
import type { Capability } from './capabilities/capability.ts';
import { datasets } from './capabilities/datasets.ts';
import { devices } from './capabilities/devices.ts';
import { evaluations } from './capabilities/evaluations.ts';
import { executions } from './capabilities/executions.ts';
import { improvements } from './capabilities/improvements.ts';
import { members } from './capabilities/members.ts';
import { monitors } from './capabilities/monitors.ts';
import { prompts } from './capabilities/prompts.ts';
import { queues } from './capabilities/queues.ts';
import { releases } from './capabilities/releases.ts';
import { rules } from './capabilities/rules.ts';
import { savedEvaluators } from './capabilities/saved-evaluators.ts';
import { schedules } from './capabilities/schedules.ts';
import { scores } from './capabilities/scores.ts';
import { traces } from './capabilities/traces.ts';
import { usage } from './capabilities/usage.ts';
import { views } from './capabilities/views.ts';
import { webhooks } from './capabilities/webhooks.ts';
import { workspaces } from './capabilities/workspaces.ts';
import type { Expiry, Retention } from './jobs/clean-up.ts';

/**
 * All capabilities of the service. The API document lists operations in this order, and removing a workspace deletes its rows
 * in reverse, because later ones refer to earlier ones. `domain/capabilities.ts` has the other half of each.
 */
export const CAPABILITIES: readonly Capability[] = [
  workspaces,
  prompts,
  releases,
  executions,
  evaluations,
  improvements,
  datasets,
  savedEvaluators,
  scores,
  queues,
  rules,
  schedules,
  monitors,
  webhooks,
  views,
  usage,
  access,
  members,
  devices,
  auditLog,
  traces,
];

/** Everything that has expired, as declared by each capability. */
export const expiredBy = (retention: Retention): Expiry[] =>
  CAPABILITIES.flatMap((each) => each.expired?.(retention) ?? []);
