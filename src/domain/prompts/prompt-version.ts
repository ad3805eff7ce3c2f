import { z } from 'zod';
import type { ErrorDetail } from '../errors.ts';
import type { JsonValue } from '../text/json.ts';
import { jsonObject, shortList } from '../text/json-object.ts';
import { contentFaults } from './content-faults.ts';
import type { ModelParameters } from './parameters.ts';
import type { PromptContent } from './prompt-content.ts';

/** The maximum size of a version. */
const MAX_VERSION_BYTES = 256 * 1024;
const MAX_CONFIG_BYTES = 16 * 1024;
const MAX_FALLBACK_MODELS = 5;

/** A model's name, `provider/model` or a bare name that one provider is known to serve. */
export const ModelName = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .max(200, 'must be at most 200 characters')
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII without spaces')
  .meta({
    description:
      '`openai/…`, `anthropic/…`, `google/…`, `mistral/…`, `openai-compatible/…`, `sandbox/…`, or a bare name.',
    example: 'openai/gpt-4o-mini',
  });

export const FallbackModels = shortList(ModelName, 'models', { max: MAX_FALLBACK_MODELS });

export const Template = z
  .string('must be a string')
  .refine((text) => Buffer.byteLength(text) <= MAX_VERSION_BYTES, `must be at most ${MAX_VERSION_BYTES} bytes`)
  .meta({
    description:
      'One text, sent as one user message; either this or `messages`. `{{ name }}` is replaced by the variable of that name, ' +
      '`{{> prompt }}`, `{{> prompt@3 }}` or `{{> prompt@label }}` by the template of that prompt; `\\{{ name }}` stays as text.',
    example: 'Greet {{ name }} in one sentence.',
  });

export const Config = jsonObject().refine(
  (config) => Buffer.byteLength(JSON.stringify(config)) <= MAX_CONFIG_BYTES,
  `must be at most ${MAX_CONFIG_BYTES} bytes`,
);

/** The two forms of a prompt. */
interface Texts {
  template?: string | undefined;
  messages?: unknown[] | undefined;
}
export const hasAtMostOne = ({ template, messages }: Texts) => template === undefined || messages === undefined;
export const hasOne = ({ template, messages }: Texts) => template !== undefined || messages !== undefined;
// zod removes the message from the object passed to `refine`: pass a copy.
export const NOT_BOTH = { path: ['messages'], message: 'cannot be combined with template: give only one of them' };
export const ONE_OF_BOTH = { path: ['template'], message: 'is required: set template or messages' };

/** The content of a version. */
export interface Version extends PromptContent {
  model: string;
  fallback_models: string[];
  parameters: ModelParameters;
  config: Record<string, JsonValue> | null;
}

/** What is wrong with a version as a whole: its parts don't fit together, no provider would accept it, or it is too large. */
export function versionFaults(version: Version): ErrorDetail[] {
  const details = contentFaults(version);
  const bytes = bytesOf(version);
  if (details.length > 0 || bytes <= MAX_VERSION_BYTES) return details;
  const path = version.template === null ? 'messages' : 'template';
  const message = `makes the version ${bytes} bytes long, with its tools, inputs, parameters and config: all of it must be at most ${MAX_VERSION_BYTES} bytes`;
  return [{ path, message }];
}

function bytesOf({ template, messages, tools, tool_choice, inputs, fallback_models, parameters, config }: Version) {
  let bytes = template === null ? 0 : Buffer.byteLength(template);
  for (const value of [messages, tools, tool_choice, inputs, fallback_models, parameters, config])
    if (value !== null && Object.keys(value).length > 0) bytes += Buffer.byteLength(JSON.stringify(value));
  return bytes;
}
