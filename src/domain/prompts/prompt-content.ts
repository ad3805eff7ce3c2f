import { z } from 'zod';
import { MAX_MESSAGES, TOOL_NAME } from '../prompt-rules/limits.ts';
import { AnyJson, jsonObject, shortList } from '../text/json-object.ts';
import { CacheControl, PromptMessage, VariableName } from './messages.ts';

export const MAX_TOOLS = 128;
const MAX_INPUTS = 200;
const MAX_ENUM = 1000;

/** A tool that a model can call. The service never runs one. */
export const Tool = z
  .strictObject({
    name: z
      .string('is required: a string')
      .regex(TOOL_NAME, 'must be 1–64 letters, digits, "_" or "-"')
      .meta({ example: 'get_weather' }),
    description: z
      .string()
      .max(8192, 'must be at most 8,192 characters')
      .optional()
      .meta({ description: 'Tells the model when to use it.', example: 'The weather in a city right now.' }),
    input_schema: jsonObject('is required: a JSON schema of type object').meta({
      override: { type: 'object', description: 'A JSON schema of its input.' },
      example: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    }),
    strict: z.boolean().optional().meta({ description: 'Whether the provider must enforce the schema, if it can.' }),
    cache_control: CacheControl.optional(),
  })
  .meta({ id: 'Tool' });
export type Tool = z.infer<typeof Tool>;

export const Tools = shortList(Tool, 'tools', { max: MAX_TOOLS });

/** Whether the model must use a tool, and which. */
export const ToolChoice = z
  .union(
    [z.enum(['auto', 'none', 'required']), z.strictObject({ name: Tool.shape.name }).meta({ id: 'NamedTool' })],
    'must be "auto", "none", "required" or {"name": "…"}',
  )
  .meta({ id: 'ToolChoice' });
export type ToolChoice = z.infer<typeof ToolChoice>;

export const INPUT_TYPES = ['string', 'number', 'boolean', 'json', 'messages', 'file'] as const;

type Scalar = string | number | boolean;
const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value);

/** Checked as a whole: all inputs of a prompt together may have many thousands of values. */
const Enum = z
  .custom<Scalar[]>(
    (values) => Array.isArray(values) && values.length > 0 && values.length <= MAX_ENUM && values.every(isScalar),
    `must be a list of 1–${MAX_ENUM} strings, numbers or booleans`,
  )
  .meta({
    override: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_ENUM,
      items: { type: ['string', 'number', 'boolean'] },
      description: 'The values that it may have.',
    },
  });

/** The declaration of a variable. */
export const Input = z
  .strictObject({
    type: z.enum(INPUT_TYPES, `must be one of ${INPUT_TYPES.join(', ')}`),
    required: z.boolean().optional().meta({ description: 'Default: true, unless there is a default.' }),
    default: AnyJson.optional().meta({ override: { description: 'The value if a run passes none.' } }),
    description: z.string().max(1000, 'must be at most 1,000 characters').optional(),
    enum: Enum.optional(),
  })
  .meta({ id: 'PromptInput', description: 'The description of a variable.' });
export type Input = z.infer<typeof Input>;

export const Inputs = z.preprocess(
  (value, context) => {
    // Counted before any of them is checked.
    if (typeof value !== 'object' || value === null || Object.keys(value).length <= MAX_INPUTS) return value;
    context.addIssue({ code: 'custom', message: `must have at most ${MAX_INPUTS} entries` });
    return z.NEVER;
  },
  z.record(VariableName, Input, 'must be an object of inputs by name'),
);
export type Inputs = z.infer<typeof Inputs>;

export const PromptMessages = shortList(PromptMessage, 'messages', { min: 1, max: MAX_MESSAGES });

/** The source of a call's text: exactly one of `template` and `messages` is not null. */
export interface PromptContent {
  template: string | null;
  messages: PromptMessage[] | null;
  tools: Tool[] | null;
  tool_choice: ToolChoice | null;
  inputs: Inputs | null;
}

/** The content of a prompt that consists only of a text. */
export function templateContent(template: string): PromptContent {
  return { template, messages: null, tools: null, tool_choice: null, inputs: null };
}

export type { IncludeRef, IncludeSet } from '../prompt-rules/types.ts';
