import { z } from 'zod';
import { ModelParameters } from '../../domain/parameters.ts';
import { BodyVersion, Label, ModelName, Name, saneText, Timestamp, VersionNumber } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';

export const MAX_TEMPLATE_BYTES = 256 * 1024;

const Template = z
  .string('is required: a text')
  .refine((text) => Buffer.byteLength(text) <= MAX_TEMPLATE_BYTES, `must be at most ${MAX_TEMPLATE_BYTES} bytes`)
  .meta({
    description:
      "The prompt's text. `{{ name }}` is replaced by the variable of that name; `\\{{ name }}` stays as text.",
    example: 'Greet {{ name }} in one sentence.',
  });

const Description = z.string().max(2000).nullable().meta({ description: 'What the prompt is for.', example: null });
const CommitMessage = z.string().max(1000).meta({ description: 'Why this version was made.', example: 'Shorter.' });

export const CreatePrompt = z
  .strictObject({
    name: Name,
    template: Template,
    model: ModelName,
    parameters: ModelParameters.default({}),
    description: Description.optional(),
    commit_message: CommitMessage.optional(),
  })
  .meta({ id: 'CreatePrompt' });

export const UpdatePrompt = z
  .strictObject({
    template: Template.optional(),
    model: ModelName.optional(),
    parameters: ModelParameters.optional().meta({ description: 'Replaces the parameters as a whole.' }),
    description: Description.optional(),
    commit_message: CommitMessage.optional(),
  })
  .meta({ id: 'UpdatePrompt' });

export const Prompt = z
  .object({
    name: Name,
    version: BodyVersion,
    template: z.string().nullable(),
    model: z.string(),
    parameters: ModelParameters,
    variables: z.array(z.string()).meta({ description: 'Names of the placeholders in the template.' }),
    labels: z.array(z.string()).meta({ description: 'Labels that point at this version.' }),
    archived: z.boolean(),
    description: z.string().nullable(),
    commit_message: z.string().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version_created_at: Timestamp,
  })
  .meta({ id: 'Prompt' });

export const PromptPage = pageOf(Prompt).meta({ id: 'PromptPage' });
export const NameParams = z.object({ name: Name });
export const LabelParams = z.object({
  name: Name,
  label: Label.refine((label) => label !== 'latest', 'must not be "latest": it always means the newest version'),
});
export const SetLabel = z.strictObject({ version: BodyVersion }).meta({ id: 'SetLabel' });

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
  archived: z.enum(['true', 'false', 'all'], 'must be true, false or all').default('false'),
  sort: z
    .enum(
      ['name', '-name', 'created_at', '-created_at', 'updated_at', '-updated_at'],
      'must be name, created_at or updated_at, with "-" in front for the other direction',
    )
    .default('name'),
});

export const VersionsQuery = z.strictObject(PageQuery);
