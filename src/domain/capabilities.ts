import { access } from './capabilities/access.ts';
import { auditLog } from './capabilities/audit-log.ts';
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

/**
 * What the service can do. The code of a capability (its folders of `src/api` and `src/services`) may import only from those
 * before it: `scripts/check-imports.ts`. Registers are in the same order.
 */
export const DECLARATIONS = [
  auditLog,
  access,
  members,
  devices,
  workspaces,
  webhooks,
  savedEvaluators,
  scores,
  prompts,
  usage,
  executions,
  datasets,
  evaluations,
  schedules,
  traces,
  rules,
  releases,
  improvements,
  monitors,
  queues,
  views,
] as const;

export type CapabilityName = (typeof DECLARATIONS)[number]['name'];
