import { z } from 'zod';
import { ModelParameters } from '../../src/domain/prompts/parameters.ts';
import { Inputs, PromptMessages, ToolChoice, Tools } from '../../src/domain/prompts/prompt-content.ts';
import {
  Config,
  FallbackModels,
  hasAtMostOne,
  hasOne,
  ModelName,
  NOT_BOTH,
  ONE_OF_BOTH,
  Template,
  versionFaults,
} from '../../src/domain/prompts/prompt-version.ts';
import type { JsonValue } from '../../src/domain/text/json.ts';
import { insaneParts } from '../../src/domain/text/json-faults.ts';
import { detailsOf } from '../../src/domain/text/schema-details.ts';
import { isSameJson } from './json.ts';

/** The fields of a version with the rules of the service: the content sent to a model, and its settings. */
export const versionFields = {
  model: ModelName,
  fallback_models: FallbackModels.default([]),
  template: Template.optional(),
  messages: PromptMessages.optional(),
  tools: Tools.optional(),
  tool_choice: ToolChoice.optional(),
  inputs: Inputs.optional(),
  parameters: ModelParameters.default({}),
  config: Config.optional(),
};

/** The content of a version. An omitted field is null in the API, or empty if it can't be null. */
export type PromptVersion = z.output<z.ZodObject<typeof versionFields>>;
export type PromptMessage = NonNullable<PromptVersion['messages']>[number];
export type PromptTool = NonNullable<PromptVersion['tools']>[number];

/** Cross-field rules. */
export function checkTogether(version: PromptVersion, context: z.RefinementCtx): void {
  const add = ({ path, message }: { path: (string | number)[]; message: string }) =>
    context.addIssue({ code: 'custom', path, message });
  if (!hasOne(version)) add(ONE_OF_BOTH);
  else if (!hasAtMostOne(version)) add(NOT_BOTH);
  else {
    const {
      template = null,
      messages = null,
      tools = null,
      tool_choice = null,
      inputs = null,
      config = null,
    } = version;
    const { model, fallback_models, parameters } = version;
    const whole = { model, fallback_models, template, messages, tools, tool_choice, inputs, parameters, config };
    for (const { path, message } of versionFaults(whole)) add({ path: path.split('.'), message });
  }
}

const Version = z.strictObject(versionFields).superRefine(checkTogether);

/** A problem with a value and its path: in dot notation, empty for the value as a whole. */
export interface FieldProblem {
  path: string;
  message: string;
}

/** The first problem found by a schema with `reportInput`. */
export function fieldProblem(error: z.ZodError): FieldProblem {
  const [issue] = error.issues;
  const [problem = { path: '', message: 'is not valid' }] = detailsOf(error);
  return issue?.code === 'invalid_type' && issue.input === undefined ? { ...problem, message: 'is required' } : problem;
}

/**
 * Parses a value of a file with a schema, after the rules for all stored JSON.
 * @returns the problem, if any
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): { data: T } | { problem: FieldProblem } {
  const [insane] = insaneParts(value as JsonValue);
  if (insane !== undefined) return { problem: insane };
  const result = schema.safeParse(value, { reportInput: true });
  return result.success ? { data: result.data } : { problem: fieldProblem(result.error) };
}

/** The problem with a version that can be found without the service; undefined if none. */
export function versionProblem(version: PromptVersion): string | undefined {
  const parsed = parseWith(Version, contentOfVersion(version));
  return 'problem' in parsed ? `${parsed.problem.path} ${parsed.problem.message}`.trim() : undefined;
}

/** A version as returned by the API: optional fields are null. */
export type VersionRecord = Pick<PromptVersion, 'model' | 'fallback_models' | 'parameters'> & {
  [Field in 'template' | 'messages' | 'tools' | 'tool_choice' | 'inputs' | 'config']: NonNullable<
    PromptVersion[Field]
  > | null;
};

/** Extracts the fields of a version from an API record. */
export function versionOf(record: VersionRecord): PromptVersion {
  const { template, messages, tools, tool_choice, inputs, model, fallback_models, parameters, config } = record;
  const given = { template, messages, tools, tool_choice, inputs, config };
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  return { model, fallback_models, parameters, ...fields };
}

/** Drops everything except the fields of a version. */
export function contentOfVersion(version: PromptVersion): PromptVersion {
  const { template, messages, tools, tool_choice, inputs, model, fallback_models, parameters, config } = version;
  const given = { template, messages, tools, tool_choice, inputs, config };
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { model, fallback_models, parameters, ...fields };
}

/** Whether two versions have the same content. */
export function isSameVersion(a: PromptVersion, b: PromptVersion): boolean {
  return isSameJson(contentOfVersion(a), contentOfVersion(b));
}
