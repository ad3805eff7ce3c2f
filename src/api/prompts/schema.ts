import { z } from 'zod';
import { ERROR_CODES } from '../../domain/errors.ts';
import { Label, MovableLabel } from '../../domain/prompts/label.ts';
import { PromptMessage } from '../../domain/prompts/messages.ts';
import { ModelParameters } from '../../domain/prompts/parameters.ts';
import { Inputs, PromptMessages, Tool, ToolChoice, Tools } from '../../domain/prompts/prompt-content.ts';
import {
  Config,
  FallbackModels,
  hasAtMostOne,
  hasOne,
  ModelName,
  NOT_BOTH,
  ONE_OF_BOTH,
  Template,
} from '../../domain/prompts/prompt-version.ts';
import { AnyJson, jsonObject, shortList } from '../../domain/text/json-object.ts';
import {
  BodyVersion,
  MAX_VERSION,
  Name,
  storableString,
  Timestamp,
  VersionNumber,
  Warnings,
} from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';

const Messages = PromptMessages.meta({
  description: 'A list of messages and placeholders for lists of messages. Set either this or `template`.',
  example: [{ role: 'system', content: 'Answer in one sentence.' }, { placeholder: 'history' }],
});

const AnyConfig = Config.nullable().meta({
  description: 'Any JSON object. Stored, but never used by the service.',
  example: { team: 'support' },
});

/** Fields that POST and PUT accept in addition to the text. */
const content = {
  tools: Tools.nullable()
    .optional()
    .meta({ description: 'The tools that the model may call. The service never runs tools.' }),
  tool_choice: ToolChoice.nullable().optional().meta({ description: 'Default: the model decides.' }),
  inputs: Inputs.nullable().optional().meta({
    description: 'Declarations of variables, by name. An undeclared variable is required and accepts any type.',
  }),
  fallback_models: FallbackModels.optional().meta({
    description: 'Tried in order if the previous model fails permanently in a way that another model may not.',
  }),
  config: AnyConfig.optional(),
};

/** Fields that can be run without being stored. */
export const draftFields = {
  template: Template.optional().meta({ description: 'Also replaces messages.' }),
  messages: Messages.optional().meta({ description: 'Also replaces a template.' }),
  ...content,
  parameters: ModelParameters.optional().meta({ description: 'Replaces the parameters as a whole.' }),
};

const Description = z.string().max(2000).nullable().meta({ description: 'The purpose of the prompt.', example: null });
const CommitMessage = z.string().max(1000).meta({ description: 'Why this version was made.', example: 'Shorter.' });

const BaseVersion = BodyVersion.meta({
  description:
    'The version that the change is based on. If there is a newer one, the request fails with `version_conflict`.',
  example: 3,
});
const BaseVersionOrNone = z
  .int('must be a whole number from 0')
  .min(0, 'must be a whole number from 0')
  .max(MAX_VERSION, 'is too large')
  .meta({
    description:
      'The version that this one is based on; 0 if the prompt must be new. If there is a newer one, the request fails with `version_conflict`.',
    example: 0,
  });

export const CreatePrompt = z
  .strictObject({
    name: Name,
    template: Template.optional(),
    messages: Messages.optional(),
    ...content,
    model: ModelName,
    parameters: ModelParameters.default({}),
    description: Description.optional(),
    commit_message: CommitMessage.optional(),
    base_version: BaseVersionOrNone.optional(),
  })
  .refine(hasOne, { ...ONE_OF_BOTH })
  .refine(hasAtMostOne, { ...NOT_BOTH })
  .meta({ id: 'CreatePrompt' });

export const UpdatePrompt = z
  .strictObject({
    ...draftFields,
    model: ModelName.optional(),
    description: Description.optional(),
    commit_message: CommitMessage.optional(),
    base_version: BaseVersion.optional(),
  })
  .refine(hasAtMostOne, { ...NOT_BOTH })
  .meta({ id: 'UpdatePrompt' });

/** How a label's release chooses who gets the candidate. */
export const PromptRelease = z
  .object({
    id: z.string().meta({ example: 'rel_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    candidate_version: BodyVersion,
    percent: z.number().meta({ description: 'The share of keys that get the candidate, 0–100.' }),
    salt: z.string().meta({
      description:
        'A key gets the candidate if the first 32 bits of the SHA-256 of `salt:key`, modulo 10,000, are below `percent` × 100.',
    }),
  })
  .meta({ id: 'PromptRelease' });

export const Prompt = z
  .object({
    name: shown(Name),
    version: shown(BodyVersion),
    template: z.string().nullable().meta({ description: 'Null if the prompt has messages.' }),
    messages: z.array(PromptMessage).nullable().meta({ description: 'Null if the prompt is a template.' }),
    tools: z.array(Tool).nullable(),
    tool_choice: ToolChoice.nullable(),
    inputs: Inputs.nullable(),
    model: z.string(),
    fallback_models: z.array(z.string()),
    parameters: ModelParameters,
    config: jsonObject().nullable(),
    variables: z.array(z.string()).meta({
      description:
        'The names of all values that a run must or may pass: placeholders (also of includes), files and inputs.',
    }),
    labels: shown(z.array(z.string()).meta({ description: 'Labels that point to this version.' })),
    archived: shown(z.boolean()),
    description: z.string().nullable(),
    commit_message: z.string().nullable(),
    created_by: z
      .object({
        key_id: z.string(),
        member_id: z
          .string()
          .nullable()
          .meta({ description: 'The member who owns or created the key; null if there is none.' }),
        name: z.string(),
      })
      .nullable()
      .meta({ description: 'The author of the version; null for the operator, or if no longer known.' }),
    created_at: shown(Timestamp),
    updated_at: shown(Timestamp),
    version_created_at: shown(Timestamp),
    release: shown(
      PromptRelease.optional().meta({
        description:
          'Only when requested by a label with a running release; the returned version is then the stable one.',
      }),
    ),
    warnings: shown(
      Warnings.optional().meta({
        description:
          'In responses to creating and updating: texts with tags of another template language, such as `{{ user.name }}` or ' +
          '`{{#if x}}`, which stay text.',
      }),
    ),
  })
  .meta({ id: 'Prompt' });

const PromptLabel = z.object({ label: Label, version: BodyVersion }).meta({ id: 'PromptLabel' });

export const PromptLabels = pageOf(PromptLabel).meta({ id: 'PromptLabels' });

export const ListedPrompt = Prompt.extend({
  all_labels: z
    .array(PromptLabel)
    .meta({ description: 'All labels of the prompt, with the versions that they point at.' }),
}).meta({ id: 'ListedPrompt' });

export const PromptPage = pageOf(ListedPrompt).meta({ id: 'PromptPage' });
export const PromptVersionPage = pageOf(Prompt).meta({ id: 'PromptVersionPage' });
export const NameParams = z.object({ name: Name });
export const VersionParams = z.object({ name: Name, version: VersionNumber });
export const LabelParams = z.object({ name: Name, label: MovableLabel });
export const SetLabel = z
  .strictObject({
    version: BodyVersion,
    override: z.literal(true, 'must be true').optional().meta({
      description:
        'Requires the scope `admin`. Moves a label that otherwise moves only by releases. The audit log keeps the reason.',
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
  .meta({ id: 'SetLabel' });

export const VersionQuery = z
  .strictObject({ version: VersionNumber.optional(), label: Label.optional() })
  .refine(({ version, label }) => version === undefined || label === undefined, {
    message: 'give either version or label, not both',
    path: ['label'],
  });

export const ListQuery = z.strictObject({
  ...PageQuery,
  group: Name.optional().meta({
    description: 'Only prompts whose name starts with this and a "/".',
    example: 'support',
  }),
  q: storableString()
    .max(200)
    .optional()
    .meta({ description: 'Only prompts whose name or description contains this text (case-insensitive).' }),
  model: ModelName.optional(),
  label: Label.optional().meta({ description: 'Only prompts with this label; the labelled version is shown.' }),
  includes: Name.optional().meta({
    description: 'Only prompts that include any version of this prompt, in their latest version or a labelled one.',
    example: 'support/tone',
  }),
  archived: z.enum(['true', 'false', 'all'], 'must be true, false or all').default('false'),
  sort: z
    .enum(
      ['name', '-name', 'created_at', '-created_at', 'updated_at', '-updated_at'],
      'must be name, created_at or updated_at; prefix "-" to reverse the order',
    )
    .default('name'),
});

export const DiffQuery = z.strictObject({ from: VersionNumber.optional(), to: VersionNumber.optional() });

export const VersionDiff = z
  .object({
    name: Name,
    from: BodyVersion,
    to: BodyVersion,
    changes: z.array(
      z.object({
        path: z.string().meta({
          description:
            'The changed field, in dot notation. A list item has its index in `to`, or in `from` if it was removed.',
        }),
        before: AnyJson.optional().meta({ override: { description: 'Absent if the field was added.' } }),
        after: AnyJson.optional().meta({ override: { description: 'Absent if the field was removed.' } }),
        diff: z
          .string()
          .optional()
          .meta({ description: 'A unified diff instead of `before` and `after`, if both are strings.' }),
      }),
    ),
  })
  .meta({ id: 'VersionDiff' });

const MAX_RESOLVED = 200;

const WantedPrompt = z
  .strictObject({
    name: Name,
    version: BodyVersion.optional(),
    label: Label.optional().meta({ description: 'Default if no version is given: `latest`.' }),
    known_version: BodyVersion.optional().meta({ description: 'The version that you have.' }),
    known_includes: z.string().max(64, 'must be an includes_hash from an earlier response').optional().meta({
      description: 'The `includes_hash` of your copy. If omitted, a prompt with includes is always sent.',
    }),
  })
  .refine(({ version, label }) => version === undefined || label === undefined, {
    message: 'cannot be combined with version: give only one of them',
    path: ['label'],
  });

export const ResolvePrompts = z
  .strictObject({ prompts: shortList(WantedPrompt, 'prompts', { min: 1, max: MAX_RESOLVED }) })
  .meta({ id: 'ResolvePrompts' });

export const ResolvedPrompt = z
  .object({
    name: Name,
    prompt: Prompt.optional(),
    includes: z
      .record(z.string(), z.object({ name: Name, version: BodyVersion, template: z.string() }))
      .optional()
      .meta({
        description: 'The included prompts, at any depth, by their reference in the text (`support/tone@production`).',
      }),
    includes_hash: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'Identifies the included versions; null if nothing is included.' }),
    unchanged: z.literal(true).optional().meta({ description: 'Your copy is up to date.' }),
    release: PromptRelease.optional().meta({
      description: 'With `unchanged`: the release currently running on the label.',
    }),
    left_out: z
      .literal(true)
      .optional()
      .meta({ description: 'Omitted to keep the response under about 4 MiB: request this prompt again.' }),
    error: z
      .object({ code: z.enum(ERROR_CODES), message: z.string() })
      .optional()
      .meta({ description: '`not_found`, or `invalid_request` if an include would make a run fail.' }),
  })
  .meta({
    id: 'ResolvedPrompt',
    description:
      'One of: `prompt` with `includes` and `includes_hash`, `unchanged` with `release`, `left_out`, `error`.',
  });

export const ResolvedPrompts = z
  .object({ data: z.array(ResolvedPrompt).meta({ description: 'In the order of the request.' }) })
  .meta({ id: 'ResolvedPrompts' });

export const VersionsQuery = z.strictObject(PageQuery);
