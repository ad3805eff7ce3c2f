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
import { BodyVersion, MAX_VERSION, Name, saneText, Timestamp, VersionNumber, Warnings } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';

const Messages = PromptMessages.meta({
  description: 'A list of messages, and placeholders for lists of messages; either this or `template`.',
  example: [{ role: 'system', content: 'Answer in one sentence.' }, { placeholder: 'history' }],
});

const AnyConfig = Config.nullable().meta({
  description: 'Any JSON object, kept and never read.',
  example: { team: 'support' },
});

/** What both POST and PUT take besides the text. */
const content = {
  tools: Tools.nullable().optional().meta({ description: 'What the model may ask for. No tool is ever run here.' }),
  tool_choice: ToolChoice.nullable().optional().meta({ description: 'Default: the model decides.' }),
  inputs: Inputs.nullable().optional().meta({
    description: 'What is known of variables, by name. One that is not declared is required and takes any type.',
  }),
  fallback_models: FallbackModels.optional().meta({
    description: 'Tried in order where the model before fails for good in a way that another may not.',
  }),
  config: AnyConfig.optional(),
};

/** What may be run without being stored. */
export const draftFields = {
  template: Template.optional().meta({ description: 'Takes the place of messages, too.' }),
  messages: Messages.optional().meta({ description: 'Takes the place of a template, too.' }),
  ...content,
  parameters: ModelParameters.optional().meta({ description: 'Replaces the parameters as a whole.' }),
};

const Description = z.string().max(2000).nullable().meta({ description: 'What the prompt is for.', example: null });
const CommitMessage = z.string().max(1000).meta({ description: 'Why this version was made.', example: 'Shorter.' });

const BaseVersion = BodyVersion.meta({
  description:
    'The version that the change was made from. Where there is a newer one, the request is refused with `version_conflict`.',
  example: 3,
});
const BaseVersionOrNone = z
  .int('must be a whole number from 0')
  .min(0, 'must be a whole number from 0')
  .max(MAX_VERSION, 'is too large')
  .meta({
    description:
      'The version that this one was made from, 0 where the prompt is to be new. Where there is a newer one, the request is refused with `version_conflict`.',
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

/** What decides who gets the candidate of a label's release. */
export const PromptRelease = z
  .object({
    id: z.string().meta({ example: 'rel_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    candidate_version: BodyVersion,
    percent: z.number().meta({ description: 'The share of keys that get the candidate, 0–100.' }),
    salt: z.string().meta({
      description:
        'A key gets the candidate where the first 32 bits of the SHA-256 of `salt:key`, modulo 10,000, are below `percent` × 100.',
    }),
  })
  .meta({ id: 'PromptRelease' });

export const Prompt = z
  .object({
    name: Name,
    version: BodyVersion,
    template: z.string().nullable().meta({ description: 'Null where the prompt has messages.' }),
    messages: z.array(PromptMessage).nullable().meta({ description: 'Null where the prompt is a template.' }),
    tools: z.array(Tool).nullable(),
    tool_choice: ToolChoice.nullable(),
    inputs: Inputs.nullable(),
    model: z.string(),
    fallback_models: z.array(z.string()),
    parameters: ModelParameters,
    config: jsonObject().nullable(),
    variables: z.array(z.string()).meta({
      description: 'Names of all that a run must or may be given: placeholders, those of includes, files, inputs.',
    }),
    labels: z.array(z.string()).meta({ description: 'Labels that point at this version.' }),
    archived: z.boolean(),
    description: z.string().nullable(),
    commit_message: z.string().nullable(),
    created_by: z
      .object({
        key_id: z.string(),
        member_id: z
          .string()
          .nullable()
          .meta({ description: 'The member whose key it is, or who made it. Null: nobody that signs in.' }),
        name: z.string(),
      })
      .nullable()
      .meta({ description: 'Who made the version. Null: the operator, or nobody knows any more.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    version_created_at: Timestamp,
    release: PromptRelease.optional().meta({
      description: 'Only where it is asked for by a label on which a release runs: the version is then the stable one.',
    }),
    warnings: Warnings.optional().meta({
      description:
        'In responses to creating and updating: texts with tags of another template language, such as `{{ user.name }}` or ' +
        '`{{#if x}}`, which stay text.',
    }),
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
      description: 'For the scope `admin`: moves a label that moves by releases alone. The audit log keeps the reason.',
    }),
    reason: z.string('must be a string').min(1).max(1_000).optional().meta({ description: 'Of the override.' }),
  })
  .refine(({ override, reason }) => (override === undefined) === (reason === undefined), {
    message: 'goes with "override": true',
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
  q: saneText()
    .max(200)
    .optional()
    .meta({ description: 'Only prompts with this in their name or description, in any case.' }),
  model: ModelName.optional(),
  label: Label.optional().meta({ description: 'Only prompts with this label; the labelled version is shown.' }),
  includes: Name.optional().meta({
    description:
      'Only prompts whose texts include this prompt, in any version of it: in their latest version, or in one that a label points at.',
    example: 'support/tone',
  }),
  archived: z.enum(['true', 'false', 'all'], 'must be true, false or all').default('false'),
  sort: z
    .enum(
      ['name', '-name', 'created_at', '-created_at', 'updated_at', '-updated_at'],
      'must be name, created_at or updated_at, with "-" in front for the other direction',
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
            'What differs, in dot notation. An item of a list has its index in `to`, or in `from` where it was removed.',
        }),
        before: AnyJson.optional().meta({ override: { description: 'Absent from what was added.' } }),
        after: AnyJson.optional().meta({ override: { description: 'Absent from what was removed.' } }),
        diff: z
          .string()
          .optional()
          .meta({ description: 'A unified diff, in place of `before` and `after`, where both are texts.' }),
      }),
    ),
  })
  .meta({ id: 'VersionDiff' });

const MAX_RESOLVED = 200;

const WantedPrompt = z
  .strictObject({
    name: Name,
    version: BodyVersion.optional(),
    label: Label.optional().meta({ description: 'Default, where no version is given: `latest`.' }),
    known_version: BodyVersion.optional().meta({ description: 'The version that you have.' }),
    known_includes: z.string().max(64, 'must be an includes_hash as it was given').optional().meta({
      description: 'The `includes_hash` of what you have. A prompt with includes is sent where it is left out.',
    }),
  })
  .refine(({ version, label }) => version === undefined || label === undefined, {
    message: 'must not be given beside version: give one of both',
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
        description: 'What the texts include, at any depth, by how they refer to it (`support/tone@production`).',
      }),
    includes_hash: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'Tells apart what the texts include, in its versions; null where they include nothing.' }),
    unchanged: z.literal(true).optional().meta({ description: 'What you have is what is asked for.' }),
    release: PromptRelease.optional().meta({
      description: 'With `unchanged`: the release that runs on the label now.',
    }),
    left_out: z
      .literal(true)
      .optional()
      .meta({ description: 'The response would be larger than about 4 MiB: ask for this one again.' }),
    error: z
      .object({ code: z.enum(ERROR_CODES), message: z.string() })
      .optional()
      .meta({ description: '`not_found`, or `invalid_request` where a run would be refused for an include.' }),
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
