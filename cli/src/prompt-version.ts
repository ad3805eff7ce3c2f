import { z } from 'zod';
import { isSameJson } from './json.ts';
import { isVariableName } from './names.ts';
import { valueProblem } from './text-problems.ts';

const MAX_VERSION_BYTES = 256 * 1024;
const MAX_CONFIG_BYTES = 16 * 1024;

const text = z.string('must be a string');
const VariableName = text.refine(isVariableName, 'must be letters, digits and "_", not starting with a digit');
const ToolName = text.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1–64 letters, digits, "_" or "-"');
const AnyObject = z.record(z.string(), z.unknown(), 'must be an object');
const Any = z.unknown().refine((value) => value !== undefined, 'is required: any JSON');
const CallId = text.min(1, 'must not be empty').max(200, 'must be at most 200 characters');

const TextPart = z.strictObject({ type: z.literal('text'), text });
const FilePart = z
  .strictObject({
    type: z.literal('file'),
    media_type: text.regex(/^[a-z]+\/[A-Za-z0-9.+*_-]+$/, 'must be a media type such as "image/png"'),
    filename: text.min(1).max(255).optional(),
    data: text.optional(),
    url: text.regex(/^https:/i, 'must be an https address').optional(),
    variable: VariableName.optional(),
  })
  .refine(
    ({ data, url, variable }) => [data, url, variable].filter((source) => source !== undefined).length === 1,
    'must have one of data, url and variable',
  );
const ToolCallPart = z.strictObject({ type: z.literal('tool_call'), id: CallId, name: ToolName, input: Any });
const ToolResultPart = z.strictObject({ type: z.literal('tool_result'), id: CallId, name: ToolName, output: Any });

const list = <Item extends z.ZodType>(item: Item, what: string, max: number, min = 0) =>
  z.array(item, `must be a list of ${what}`).min(min, 'must not be empty').max(max, `must have at most ${max} ${what}`);
const contentOf = <Part extends z.ZodType>(part: Part) =>
  z.union([text, list(part, 'parts', 100, 1)], 'must be a string or a list of parts');

const Message = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ role: z.literal('system'), content: contentOf(TextPart) }),
    z.strictObject({
      role: z.literal('user'),
      content: contentOf(z.discriminatedUnion('type', [TextPart, FilePart], 'must be a text or a file part')),
    }),
    z.strictObject({
      role: z.literal('assistant'),
      content: contentOf(
        z.discriminatedUnion('type', [TextPart, FilePart, ToolCallPart], 'must be a text, file or tool_call part'),
      ),
    }),
    z.strictObject({ role: z.literal('tool'), content: list(ToolResultPart, 'tool_result parts', 100, 1) }),
  ],
  'must be system, user, assistant or tool',
);
const Placeholder = z.strictObject({
  placeholder: VariableName,
  required: z.boolean('must be true or false').optional(),
});

const Tool = z.strictObject({
  name: ToolName,
  description: text.max(8192, 'must be at most 8,192 characters').optional(),
  input_schema: AnyObject,
  strict: z.boolean('must be true or false').optional(),
});
const Input = z.strictObject({
  type: z.enum(
    ['string', 'number', 'boolean', 'json', 'messages', 'file'],
    'must be one of string, number, boolean, json, messages, file',
  ),
  required: z.boolean('must be true or false').optional(),
  default: z.unknown().optional(),
  description: text.max(1000, 'must be at most 1,000 characters').optional(),
  enum: list(z.union([text, z.number(), z.boolean()]), 'strings, numbers or booleans', 1000, 1).optional(),
});

const number = (min: number, max: number) =>
  z.number('must be a number').min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);
const whole = (max: number) =>
  z.int('must be a whole number').min(1, 'must be at least 1').max(max, `must be at most ${max}`);

/** Parameters of a model. Which of them a provider's options are is left to the service. */
export const Parameters = z.strictObject(
  {
    temperature: number(0, 2).optional(),
    top_p: number(0, 1).optional(),
    top_k: whole(100_000).optional(),
    max_tokens: whole(10_000_000).optional(),
    stop: z
      .union([text.min(1).max(1024), list(text.min(1).max(1024), 'strings', 16, 1)], 'must be a string or a list')
      .optional(),
    seed: z.int('must be a whole number').optional(),
    frequency_penalty: number(-2, 2).optional(),
    presence_penalty: number(-2, 2).optional(),
    response_format: AnyObject.optional(),
    reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
    provider_options: z.record(z.string(), AnyObject).optional(),
  },
  'must be an object',
);

const ModelName = text
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII without spaces');

/** The fields of a version: what a model is sent, and with which settings. */
export const versionFields = {
  model: ModelName,
  fallback_models: list(ModelName, 'models', 5).default([]),
  template: text.optional(),
  messages: list(z.union([Message, Placeholder]), 'messages', 200, 1).optional(),
  tools: list(Tool, 'tools', 128).optional(),
  tool_choice: z
    .union(
      [z.enum(['auto', 'none', 'required']), z.strictObject({ name: ToolName })],
      'must be "auto", "none", "required" or {"name": "…"}',
    )
    .optional(),
  inputs: z.record(VariableName, Input, 'must be an object of inputs by name').optional(),
  parameters: Parameters.default({}),
  config: AnyObject.refine(
    (config) => Buffer.byteLength(JSON.stringify(config)) <= MAX_CONFIG_BYTES,
    `must be at most ${MAX_CONFIG_BYTES} bytes`,
  ).optional(),
};

/** The bytes of a version as the service counts them. */
function versionBytes(version: PromptVersion): number {
  const { template = '', model: _, ...others } = contentOfVersion(version);
  let bytes = Buffer.byteLength(template);
  for (const value of Object.values(others))
    if (value !== undefined && Object.keys(value).length > 0) bytes += Buffer.byteLength(JSON.stringify(value));
  return bytes;
}

/** Rules between the fields. */
export function checkTogether(version: PromptVersion, context: z.RefinementCtx): void {
  const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  if (version.template === undefined && version.messages === undefined)
    issue(['template'], 'is required: a text, or messages in its place');
  if (version.template !== undefined && version.messages !== undefined)
    issue(['messages'], 'must not be given beside template: give one of both');
  const bytes = versionBytes(version);
  if (bytes > MAX_VERSION_BYTES)
    issue(
      [version.template === undefined ? 'messages' : 'template'],
      `makes the version ${bytes} bytes long, with its tools, inputs, parameters and config: at most ${MAX_VERSION_BYTES} are allowed`,
    );
}

/** All that a version says. A field that is left out is null in the API, or empty where it can't be null. */
export type PromptVersion = z.output<z.ZodObject<typeof versionFields>>;
export type PromptMessage = NonNullable<PromptVersion['messages']>[number];
export type PromptTool = NonNullable<PromptVersion['tools']>[number];
export type ModelParameters = PromptVersion['parameters'];

const Version = z.strictObject(versionFields).superRefine(checkTogether);

/** What is wrong with a value, and where. */
export interface FieldProblem {
  path: (string | number)[];
  message: string;
}

/** The first thing that is wrong, of the form that the value comes closest to where there are several. */
export function fieldProblem({ issues: [issue] }: { issues: readonly z.core.$ZodIssue[] }): FieldProblem {
  if (issue === undefined) return { path: [], message: 'is not valid' };
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    return { path: [...path, key], message: 'is not a field here: correct its name or take it out' };
  }
  if (issue.code === 'invalid_union') {
    const branches = issue.errors.map((issues) => fieldProblem({ issues }));
    const deepest = branches.toSorted((a, b) => b.path.length - a.path.length)[0];
    if (deepest !== undefined && deepest.path.length > 0)
      return { path: [...path, ...deepest.path], message: deepest.message };
  }
  if (issue.code === 'invalid_type' && issue.input === undefined) return { path, message: 'is required' };
  return { path, message: issue.message };
}

/** What is wrong with a version, as far as it shows without the service; undefined where nothing is. */
export function versionProblem(version: PromptVersion): string | undefined {
  const content = contentOfVersion(version);
  const insane = valueProblem(content);
  const result = Version.safeParse(content, { reportInput: true });
  const problem = insane ?? (result.success ? undefined : fieldProblem(result.error));
  return problem && `${problem.path.join('.')} ${problem.message}`.trim();
}

/** A version as the API shows it: what a version need not have is null. */
export type VersionRecord = Pick<PromptVersion, 'model' | 'fallback_models' | 'parameters'> & {
  [Field in 'template' | 'messages' | 'tools' | 'tool_choice' | 'inputs' | 'config']: NonNullable<
    PromptVersion[Field]
  > | null;
};

/** The fields of a version out of the record that the API shows it as. */
export function versionOf(record: VersionRecord): PromptVersion {
  const { template, messages, tools, tool_choice, inputs, model, fallback_models, parameters, config } = record;
  const given = { template, messages, tools, tool_choice, inputs, config };
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  return { model, fallback_models, parameters, ...fields };
}

/** The fields of a version and no others. */
export function contentOfVersion(version: PromptVersion): PromptVersion {
  const { template, messages, tools, tool_choice, inputs, model, fallback_models, parameters, config } = version;
  const given = { template, messages, tools, tool_choice, inputs, config };
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { model, fallback_models, parameters, ...fields };
}

/** Whether two versions say the same. */
export function isSameVersion(a: PromptVersion, b: PromptVersion): boolean {
  return isSameJson(contentOfVersion(a), contentOfVersion(b));
}
