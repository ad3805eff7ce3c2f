import { z } from 'zod';
import { executionStates } from '../../domain/execution-states.ts';
import {
  CANDIDATE_KINDS,
  CANDIDATE_STATUSES,
  REJECT_CODES,
  RESULTS,
  STOP_REASONS,
} from '../../domain/improvements/candidate.ts';
import { IMPROVEMENT_PHASES } from '../../domain/improvements/improvement.ts';
import { improvementStates } from '../../domain/improvements/improvement-states.ts';
import { Label, MovableLabel } from '../../domain/prompts/label.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { ModelName } from '../../domain/prompts/prompt-version.ts';
import { EvaluatorsSchema } from '../../evaluators/registry.ts';
import {
  BodyVersion,
  growing,
  idParams,
  Metadata,
  Name,
  publicIdInput,
  Timestamp,
  TimestampInput,
  wholeNumber,
} from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { MAX_SHOWN } from '../../services/improvements/suggest.ts';
import { BatchOptions, checkMode } from '../evaluations/batch-options.ts';
import { EvaluatorComparison } from '../evaluations/compare-schema.ts';
import { DatasetReference, evaluationFields, MaxCost } from '../evaluations/create-schema.ts';
import { VersionDiff } from '../prompts/schema.ts';
import { ReleaseSteps } from '../releases/steps-schema.ts';
import { Measure } from '../scores/measure.ts';

const range = (min: number, max: number) => `must be a whole number from ${min} to ${max}`;
const whole = (min: number, max: number) => z.int(range(min, max)).min(min, range(min, max)).max(max, range(min, max));
const text = (max: number) =>
  z.string('must be a string').max(max, `must be at most ${max.toLocaleString('en-US')} characters`);

const Reflection = z
  .strictObject({
    model: ModelName.meta({ description: 'The model that writes candidates.', example: 'openai/gpt-4.1' }),
    prompt: z
      .strictObject({ name: Name, version: BodyVersion.optional(), label: Label.optional() })
      .refine(
        ({ version, label }) => version === undefined || label === undefined,
        'give either version or label, not both',
      )
      .optional()
      .meta({
        description:
          'A prompt of the workspace that asks for candidates, with `{{ parts }}` and `{{ examples }}`. Default: that of `GET /improvements/reflection-prompt`.',
      }),
    parameters: ModelParameters.default({}),
    instructions: text(4_000)
      .optional()
      .meta({ description: 'Instructions that a candidate must follow.', example: 'Keep it short.' }),
  })
  .meta({ id: 'ReflectionSettings' });

const fields = z.strictObject({
  prompt_name: Name,
  version: BodyVersion.optional(),
  label: Label.optional(),
  dataset: DatasetReference,
  evaluators: EvaluatorsSchema,
  example_threshold: evaluationFields.example_threshold,
  reflection: Reflection,
  parts: z
    .array(text(200), 'must be a list of names')
    .min(1, 'must name at least one part')
    .max(20, 'must name at most 20 parts')
    .optional()
    .meta({
      description:
        'The texts to rewrite: `template`, `messages.N` or `tools.NAME.description`. Default: the template; without one, the system messages; without these, the first user message.',
      example: ['messages.0'],
    }),
  keep: z
    .array(text(2_000).min(1, 'must not be empty'), 'must be a list of texts')
    .max(20, 'must be at most 20 texts')
    .default([])
    .meta({ description: 'Texts that must stay word for word.', example: ['Never promise a refund.'] }),
  few_shot: whole(0, 8).default(0).meta({
    description:
      'The maximum number of examples that a candidate shows as messages. They become part of the prompt: use it only with data that may be shown.',
  }),
  feedback: z
    .strictObject({
      limit: whole(1, 100)
        .default(50)
        .meta({ description: 'The maximum number of scores; each reflection shows at most 8.' }),
    })
    .optional()
    .meta({
      description:
        'Also shows scores by people of this prompt, the newest first, with their comments and corrections. Inputs of the check and held-out parts are left out. Default: none.',
    }),
  max_cost: MaxCost.nullable().meta({
    description:
      'US dollars for everything: the runs of the prompt, judges, reflections and the verdict, whose part is set aside first. Null: no limit.',
  }),
  max_proposals: whole(1, 200).default(60),
  parallel: whole(1, 8).default(2).meta({
    description: 'Proposals of a round, which do not know of each other: more are faster and learn less.',
  }),
  minibatch: whole(4, 20)
    .default(8)
    .meta({ description: 'Train examples on which a proposal must gain before it is checked.' }),
  patience: whole(4, 200)
    .default(24)
    .meta({ description: 'The search ends after so many proposals without a new best.' }),
  deadline: TimestampInput.refine((time) => time.getTime() > Date.now(), 'must be in the future')
    .optional()
    .meta({ description: 'The search ends by then, and the verdict follows.' }),
  max_length: whole(100, 200_000).optional().meta({
    description: 'Characters of the whole prompt. Default: four times the base, or 4,000 more.',
  }),
  concurrency: evaluationFields.concurrency,
  mode: evaluationFields.mode.meta({
    description: 'How the check and held-out parts are run, as for an evaluation. Minibatches are always interactive.',
  }),
  batch: BatchOptions.optional(),
  reuse: evaluationFields.reuse.unwrap().default({ max_age: 2_592_000 }),
  group_by: text(64).optional().meta({
    description: 'A key of the metadata: examples with the same value stay in the same part.',
    example: 'customer',
  }),
  seed: text(100)
    .optional()
    .meta({ description: 'The same seed with the same data draws the same parents and examples.' }),
  metadata: Metadata.default({}),
});

/** The rules for several fields. */
function checkTogether(given: z.output<typeof fields>, context: z.RefinementCtx): void {
  if (given.version !== undefined && given.label !== undefined)
    context.addIssue({ code: 'custom', path: ['label'], message: 'give either version or label, not both' });
  const http = given.evaluators.findIndex(({ type }) => type === 'http');
  if (http >= 0)
    context.addIssue({
      code: 'custom',
      path: ['evaluators', http],
      message: 'can\'t be "http": its service would see held-out examples again and again',
    });
  const pairwise = given.evaluators.findIndex((config) => config.type === 'pairwise' && config.against !== undefined);
  if (pairwise >= 0)
    context.addIssue({
      code: 'custom',
      path: ['evaluators', pairwise, 'against'],
      message:
        'must be omitted: each run of a search has other examples than that evaluation. Compare with the expected values',
    });
  checkMode(given, context);
}

export const CreateImprovement = fields.superRefine(checkTogether).meta({ id: 'CreateImprovement' });

export const SuggestPrompt = z
  .strictObject({
    prompt_name: Name,
    version: BodyVersion.optional(),
    label: Label.optional(),
    evaluation_id: publicIdInput('evaluation').optional().meta({
      description:
        'The worst results of this evaluation of the prompt. Only a quarter of the examples is used, as an improvement would; the others stay unseen.',
    }),
    execution_ids: z
      .array(publicIdInput('execution'), 'must be a list of ids')
      .min(1, 'must not be empty')
      .max(MAX_SHOWN, `must be at most ${MAX_SHOWN} ids`)
      .optional()
      .meta({ description: 'Executions of the prompt, which are shown with all of their scores and comments.' }),
    model: ModelName.meta({ description: 'The model that writes it.', example: 'openai/gpt-4.1' }),
    parameters: ModelParameters.default({}),
    parts: fields.shape.parts,
    keep: fields.shape.keep,
    instructions: text(4_000).default('').meta({ description: 'Instructions that the new text must follow.' }),
  })
  .refine(
    ({ version, label }) => version === undefined || label === undefined,
    'give either version or label, not both',
  )
  .refine(
    ({ evaluation_id: evaluation, execution_ids: executions }) =>
      (evaluation === undefined) !== (executions === undefined),
    'give either evaluation_id or execution_ids',
  )
  .meta({ id: 'SuggestPrompt' });

export const ResumeImprovement = z
  .strictObject({ max_cost: MaxCost.optional().meta({ description: 'A higher limit.' }) })
  .meta({ id: 'ResumeImprovement' });

export const AcceptImprovement = z
  .strictObject({
    candidate: whole(1, 200).optional().meta({ description: 'Default: the one of the verdict.' }),
    unproved: z.boolean().default(false).meta({
      description: 'Required for a candidate that no verdict has proved to be better.',
    }),
    base_changed: z.boolean().default(false).meta({
      description: 'Required if the prompt has versions after the base: the new version does not have their changes.',
    }),
    release: z
      .strictObject({ label: MovableLabel, steps: ReleaseSteps.optional(), reason: text(1_000).optional() })
      .optional()
      .meta({ description: 'Starts a release of the new version, as `POST /releases`.' }),
  })
  .meta({ id: 'AcceptImprovement' });

const Usd = z.number().meta({ description: 'US dollars, as counted against `max_cost`.' });
const Score = z.number().meta({ description: '0–1' });

const Verdict = z
  .object({
    result: growing(RESULTS),
    candidate: z.int().nullable(),
    evaluation_id: z.string().nullable(),
    base_evaluation_id: z.string().nullable(),
    examples: z.int().nullable().meta({ description: 'Held-out examples that have both scores.' }),
    score_base: Score.nullable(),
    score: Score.nullable(),
    difference: z.number().nullable(),
    interval: z
      .object({ low: z.number(), high: z.number() })
      .nullable()
      .meta({ description: 'The 95 % confidence interval of the difference.' }),
    p_value: z.number().nullable(),
    p_needed: z.number().nullable().meta({ description: 'Lower for each further verdict over the same examples.' }),
    look: z.int().nullable().meta({ description: 'The number of this verdict over these examples, from 1.' }),
    note: z.string(),
    by_evaluator: z.array(EvaluatorComparison),
    agreement: z
      .object({ score: z.string(), examples: z.int(), base: z.array(Measure), candidate: z.array(Measure) })
      .nullable()
      .meta({
        description:
          'How well a judge agrees with people on the held-out examples. Null unless all of them come from `POST /datasets/{name}/from-scores`.',
      }),
    optimism: z.number().nullable().meta({
      description: 'The gain on the examples that chose it, minus the gain on the held-out ones.',
    }),
    cost_per_call: z.object({ base: Usd.nullable(), candidate: Usd.nullable() }).nullable(),
    length: z
      .object({ base: z.int(), candidate: z.int() })
      .nullable()
      .meta({ description: 'Characters of the prompt.' }),
  })
  .meta({ id: 'ImprovementVerdict' });

const Sizes = z.object({ train: z.int(), check: z.int(), held_out: z.int() });

export const Improvement = z
  .object({
    id: z.string().meta({ example: 'imp_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    status: growing(improvementStates.states),
    status_reason: z.string().nullable(),
    phase: growing(IMPROVEMENT_PHASES),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    prompt_name: Name,
    prompt_version: BodyVersion.meta({ description: 'The base.' }),
    dataset: z.object({ name: Name, version: z.int() }),
    evaluators: z.array(z.looseObject({ type: z.string(), name: z.string() })),
    example_threshold: z.number().nullable(),
    reflection: z.looseObject({ model: z.string() }),
    parts: z.array(z.string()),
    keep: z.array(z.string()),
    few_shot: z.int(),
    feedback: z
      .object({ limit: z.int(), scores: z.int() })
      .nullable()
      .meta({ description: 'Scores by people that reflections can show: the limit, and how many there are.' }),
    max_cost: z.string().nullable(),
    max_proposals: z.int(),
    parallel: z.int(),
    minibatch: z.int(),
    patience: z.int(),
    deadline: Timestamp.nullable(),
    max_length: z.int().nullable(),
    concurrency: z.int(),
    mode: growing(['interactive', 'batch', 'auto']),
    batch: BatchOptions.nullable(),
    reuse: z.object({ max_age: z.int() }),
    group_by: z.string().nullable(),
    seed: z.string(),
    metadata: Metadata,
    split: Sizes.meta({ description: 'The number of examples of each part.' }),
    spent: z.object({
      cost: Usd,
      calls: z.int().meta({ description: 'Calls of the prompt.' }),
      reused: z.int().meta({ description: 'Examples answered by an earlier response.' }),
      reflections: z.int(),
      savings: z.number().meta({ description: 'US dollars that reused responses would have cost.' }),
    }),
    base: z
      .object({ train: Score.nullable(), check: Score.nullable(), check_again: Score.nullable() })
      .meta({ description: 'Mean scores of the base. Its two runs of the check part differ by noise.' }),
    best: z.object({ number: z.int(), check: Score }).nullable(),
    proposals: z.object({
      made: z.int(),
      rejected: z.int(),
      skipped: z.int(),
      tried: z.int(),
      checked: z.int(),
    }),
    curve: z.array(z.object({ proposal: z.int(), cost: Usd, check: Score })).meta({
      description: 'The best score on the check part after each round.',
    }),
    stop_reason: growing(STOP_REASONS).nullable(),
    verdict: Verdict.nullable(),
    accepted: z.object({ version: z.int(), release_id: z.string().nullable() }).nullable(),
    workflow_id: z.string(),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Improvement' });

export const ImprovementPage = pageOf(Improvement).meta({ id: 'ImprovementPage' });
export const ImprovementParams = idParams('improvement');

const RejectCodes = [...REJECT_CODES, 'not_measured'];

const Content = z.object({
  template: z.string().nullable(),
  messages: z.array(z.unknown()).nullable(),
  tools: z.array(z.unknown()).nullable(),
});

export const Candidate = z
  .object({
    number: z.int().meta({ description: '0 is the base.' }),
    parent: z.int().nullable(),
    kind: growing(CANDIDATE_KINDS),
    status: growing(CANDIDATE_STATUSES),
    reject: z.object({ code: growing(RejectCodes), message: z.string() }).nullable(),
    change: z.string().nullable().meta({ description: 'The change, in the words of the model that made it.' }),
    diagnosis: z.array(z.string()),
    content: Content.nullable().meta({ description: 'Null until it is written. Other fields are as in the base.' }),
    length: z.int().nullable().meta({ description: 'Characters.' }),
    minibatch: z.object({ parent_score: Score.nullable(), score: Score.nullable(), examples: z.int() }).nullable(),
    check: z.object({ score: Score, difference: z.number() }).nullable().meta({
      description: 'On the check part; `difference` from the first run of the base.',
    }),
    cost: Usd,
    diffs: z.object({ parent: VersionDiff.shape.changes, base: VersionDiff.shape.changes }).nullable().optional().meta({
      description:
        'The changes of its texts from its parent and from the base, field by field. Only if a single candidate is retrieved; null until it is written.',
    }),
    execution_ids: z.array(z.string()).meta({ description: 'Its reflections.' }),
    evaluation_ids: z.record(z.string(), z.string()),
  })
  .meta({ id: 'ImprovementCandidate' });

export const CandidatePage = pageOf(Candidate).meta({ id: 'ImprovementCandidatePage' });
export const CandidateParams = z.object({
  ...ImprovementParams.shape,
  number: wholeNumber({ min: 0, max: 200, description: 'The number of the candidate.' }),
});
export const CandidateQuery = z.strictObject(PageQuery);

export const ListQuery = z.strictObject({
  ...PageQuery,
  prompt_name: Name.optional(),
  status: z.enum(improvementStates.states, `must be one of ${improvementStates.states.join(', ')}`).optional(),
});

export const Suggestion = z
  .object({
    prompt_name: Name,
    prompt_version: z.int(),
    content: Content.nullable().meta({
      description: 'Null if it was rejected, or there is no answer. Other fields are as in the version.',
    }),
    reject: Candidate.shape.reject,
    change: z.string().nullable().meta({ description: 'The change, in the words of the model that made it.' }),
    diagnosis: z.array(z.string()),
    examples: z.int().meta({ description: 'The number of examples that the model saw.' }),
    status: growing(executionStates.states).meta({ description: 'The status of the call.' }),
    execution_id: z.string(),
    cost: z.string().nullable().meta({ description: 'US dollars; null if unknown.' }),
    measured: z.boolean().meta({ description: 'False: whether it is better is unknown until it is evaluated.' }),
  })
  .meta({ id: 'PromptSuggestion' });

export const ImprovementEstimate = z
  .object({
    split: Sizes,
    held_out: z.object({
      fresh: z.int().meta({ description: 'Held-out examples that no verdict has looked at.' }),
      look: z.int(),
      p_needed: z.number(),
      least_provable: z
        .number()
        .nullable()
        .meta({ description: 'The smallest improvement that so many examples can prove; null: none.' }),
    }),
    calls: z.object({ expected: z.int(), most: z.int() }).meta({ description: 'Calls of the prompt.' }),
    reflections: z.int(),
    cost: z
      .object({ expected: z.string(), most: z.string() })
      .nullable()
      .meta({ description: 'US dollars, judges included; null if a model has no known price.' }),
    warnings: z.array(z.string()),
  })
  .meta({ id: 'ImprovementEstimate' });

export const ReflectionPrompt = z
  .object({ name: Name, messages: z.array(z.unknown()), model: z.string() })
  .meta({ id: 'ReflectionPrompt' });
