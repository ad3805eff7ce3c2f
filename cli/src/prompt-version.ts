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

/** The fields of a version, by the rules of the service: what a model is sent, and with which settings. */
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

/** All that a version says. A field that is left out is null in the API, or empty where it can't be null. */
export type PromptVersion = z.output<z.ZodObject<typeof versionFields>>;
export type PromptMessage = NonNullable<PromptVersion['messages']>[number];
export type PromptTool = NonNullable<PromptVersion['tools']>[number];

/** Rules between the fields. */
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

/** What is wrong with a value, and where: in dot notation, empty where it is the value as a whole. */
export interface FieldProblem {
  path: string;
  message: string;
}

/** The first thing that is wrong by a schema that was given `reportInput`. */
export function fieldProblem(error: z.ZodError): FieldProblem {
  const [issue] = error.issues;
  const [problem = { path: '', message: 'is not valid' }] = detailsOf(error);
  return issue?.code === 'invalid_type' && issue.input === undefined ? { ...problem, message: 'is required' } : problem;
}

/**
 * Parses a value of a file by a schema, and first by the rules for all JSON that the service keeps.
 * @returns what is wrong with it, where something is
 */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown): { data: T } | { problem: FieldProblem } {
  const [insane] = insaneParts(value as JsonValue);
  if (insane !== undefined) return { problem: insane };
  const result = schema.safeParse(value, { reportInput: true });
  return result.success ? { data: result.data } : { problem: fieldProblem(result.error) };
}

/** What is wrong with a version, as far as it shows without the service; undefined where nothing is. */
export function versionProblem(version: PromptVersion): string | undefined {
  const parsed = parseWith(Version, contentOfVersion(version));
  return 'problem' in parsed ? `${parsed.problem.path} ${parsed.problem.message}`.trim() : undefined;
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
