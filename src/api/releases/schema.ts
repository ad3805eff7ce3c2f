import { z } from 'zod';
import { FailureCauses, MAX_FAILURE_CAUSES } from '../../domain/failures.ts';
import { MovableLabel } from '../../domain/prompts/label.ts';
import { STEP_STATES } from '../../domain/releases/release.ts';
import { releaseStates } from '../../domain/releases/release-states.ts';
import { ARMS } from '../../domain/releases/rollout.ts';
import { BodyVersion, idParams, Metadata, Name, Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';
import { EXAMINED_EXECUTIONS } from '../../services/releases/failures.ts';
import { SERIES_UNITS } from '../../services/releases/numbers.ts';
import { ReleaseSteps } from './steps-schema.ts';

const Comment = z.string('must be a string').max(1_000, 'must be at most 1,000 characters');

export const CreateRelease = z
  .strictObject({
    prompt_name: Name,
    label: MovableLabel,
    version: BodyVersion.meta({ description: 'The candidate: the version to move the label to.' }),
    steps: ReleaseSteps.optional(),
    reason: Comment.optional(),
    deadline: TimestampInput.refine((time) => time.getTime() > Date.now(), 'must be in the future')
      .optional()
      .meta({ description: 'The release rolls back if the label has not moved by then.' }),
    metadata: Metadata.default({}),
    supersede: z.boolean('must be true or false').default(false).meta({
      description: 'Replaces a release running on the label, which ends as `superseded`.',
    }),
    override: z.literal(true, 'must be true').optional().meta({
      description:
        'Requires the scope `admin`. Uses other steps than the policy of the label. The audit log keeps the reason.',
    }),
  })
  .refine(({ override, reason }) => override === undefined || Boolean(reason), {
    message: 'is required with "override"',
    path: ['reason'],
  })
  .meta({ id: 'CreateRelease' });

export const ControlRelease = z.strictObject({ comment: Comment.optional() }).meta({ id: 'ControlRelease' });
export const PromoteRelease = z
  .strictObject({
    comment: Comment.optional(),
    override: z.literal(true, 'must be true').optional().meta({
      description:
        'Requires the scope `admin`. Skips steps that are not done if the label moves only by releases. The audit log keeps the reason.',
    }),
    reason: z
      .string('must be a string')
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'The reason for the override.' }),
  })
  .refine(({ override, reason }) => (override === undefined) === (reason === undefined), {
    message: 'requires "override": true',
    path: ['reason'],
  })
  .meta({ id: 'PromoteRelease' });

const Actor = z.object({
  key_id: z.string().nullable().meta({ description: 'Null for the service itself.' }),
  member_id: z
    .string()
    .nullish()
    .meta({ description: 'The member who owns or created the key; null if there is none.' }),
  name: z.string(),
});

const AnyNumbers = z.unknown().meta({
  override: { description: 'The numbers behind the decision: see docs/releases.md. Null if undecided.' },
});

const Step = z
  .looseObject({
    type: z.string().meta({ example: 'canary' }),
    state: z.enum(STEP_STATES),
    started_at: Timestamp.nullable(),
    due_at: Timestamp.nullable().meta({ description: 'The earliest end of the step; null if unknown.' }),
    finished_at: Timestamp.nullable(),
    numbers: AnyNumbers,
  })
  .meta({ id: 'ReleaseStep', description: 'A step as given, and its outcome.' });

const armFields = {
  executions: z.int().meta({ description: 'Executions that completed or failed.' }),
  errors: z.int(),
  error_rate: z
    .number()
    .nullable()
    .meta({ description: '0–1. This and the other numbers are null without executions.' }),
  fallbacks: z.int().meta({ description: 'The part of `executions` answered by a fallback model.' }),
  reused: z
    .int()
    .meta({ description: 'The part of `executions` that reused a response; excluded from latency and cost.' }),
  latency_p95_ms: z.number().nullable().meta({ description: 'From creation to the end, for completed executions.' }),
  cost_mean: z.number().nullable().meta({ description: 'US dollars, for executions of known cost.' }),
  cost_total: z.number().meta({ description: 'US dollars.' }),
  tokens: z.int(),
  traces: z.int().meta({ description: 'Settled traces whose executions of the release are all of this arm.' }),
  traces_of_both: z.int().meta({ description: 'Settled traces with executions of both arms: left out of the checks.' }),
  scores: z.record(z.string(), z.number().nullable()).meta({ description: 'Mean scores by name.' }),
};
const ReleaseArm = z.object(armFields).meta({ id: 'ReleaseArm' });

export const Release = z
  .object({
    id: shown(z.string().meta({ example: 'rel_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' })),
    prompt_name: shown(Name),
    label: shown(z.string()),
    stable_version: shown(
      BodyVersion.meta({ description: 'The version the label pointed to when the release started.' }),
    ),
    candidate_version: shown(BodyVersion),
    steps: z.array(Step),
    step: shown(z.int().meta({ description: 'The index of the current step, from 0.' })),
    percent: shown(z.number().meta({ description: 'The share of keys that get the candidate now, 0–100.' })),
    salt: shown(z.string()),
    status: shown(z.enum(releaseStates.states)),
    status_reason: z.string().nullable().meta({ description: 'The reason for the status, in words.' }),
    reason: z.string().nullable(),
    deadline: shown(Timestamp.nullable()),
    metadata: Metadata,
    approvals: z.array(
      z.object({
        step: z.int(),
        by: Actor,
        at: Timestamp,
        comment: z.string().nullable(),
        candidate_version: BodyVersion,
        evaluation_id: z.string().nullable(),
      }),
    ),
    decisions: z.array(
      z.object({
        at: Timestamp,
        step: z.int(),
        verdict: z.string().meta({
          description:
            '`passed`, `failed`, `inconclusive`, `approved`, `rejected`, `paused`, `resumed`, `promoted`, `rolled_back`, `canceled` or `superseded`.',
        }),
        by: Actor,
        comment: z.string().nullable(),
        numbers: AnyNumbers,
      }),
    ),
    arms: shown(
      z.object({ stable: ReleaseArm, candidate: ReleaseArm }).meta({
        description: 'Totals of all executions of the release by arm, a few seconds old.',
      }),
    ),
    failures: shown(
      FailureCauses.optional().meta({
        description: `The causes of failed executions of the candidate, the most frequent first, at most ${MAX_FAILURE_CAUSES}, among the newest ${EXAMINED_EXECUTIONS.toLocaleString('en-US')} executions of the release that are kept. Only when a single release is read.`,
      }),
    ),
    evaluation_id: shown(z.string().nullable().meta({ description: 'The last evaluation of the candidate.' })),
    workflow_id: shown(z.string()),
    created_by: shown(Actor),
    created_at: shown(Timestamp),
    promoted_at: shown(Timestamp.nullable().meta({ description: 'When the label moved.' })),
    finished_at: shown(Timestamp.nullable()),
  })
  .meta({ id: 'Release' });

export const ReleasePage = pageOf(Release).meta({ id: 'ReleasePage' });
export const ReleaseParams = idParams('release');

export const ListQuery = z.strictObject({
  ...PageQuery,
  prompt_name: Name.optional(),
  label: MovableLabel.optional(),
  status: z.enum(releaseStates.states, `must be one of ${releaseStates.states.join(', ')}`).optional(),
});

export const NumbersQuery = z.strictObject({
  unit: z.enum(SERIES_UNITS, `must be one of ${SERIES_UNITS.join(', ')}`).default('minute'),
});

export const ReleaseNumbers = z
  .object({
    data: z.array(
      z.object({
        at: Timestamp.meta({
          description: 'The start of the minute, hour or day (UTC) in which executions were created.',
        }),
        step: z.int().meta({ description: 'The step that set the share in effect at the time.' }),
        arm: z.enum(ARMS),
        ...armFields,
      }),
    ),
  })
  .meta({ id: 'ReleaseNumbers' });
