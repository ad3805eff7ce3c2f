import { ApiError, invalidField } from '../../domain/errors.ts';
import type { PromptContent } from '../../domain/prompts/prompt-content.ts';
import { type Version, versionFaults } from '../../domain/prompts/prompt-version.ts';
import { canonicalJson } from '../../domain/text/canonical-json.ts';
import type { CallersSchema, EvaluatorPool } from '../../evaluators/threads/evaluator-pool.ts';
import { resolveModelName } from '../../models/names.ts';

/** The content of a new version. Omitted fields keep the value of the version before. */
export type VersionChange = { [Field in keyof Version]?: Version[Field] | undefined };

/** The base of a prompt's first version. */
export const EMPTY_VERSION: Omit<Version, 'model'> = {
  template: null,
  messages: null,
  tools: null,
  tool_choice: null,
  inputs: null,
  fallback_models: [],
  parameters: {},
  config: null,
};

/** Applies a change to a version, except for its model. A template replaces messages, and messages replace a template. */
export function changeVersion(before: Omit<Version, 'model'>, change: VersionChange): Omit<Version, 'model'> {
  const isNewText = change.template !== undefined || change.messages !== undefined;
  const kept = <Value>(given: Value | undefined, was: Value) => (given === undefined ? was : given);
  return {
    template: isNewText ? (change.template ?? null) : before.template,
    messages: isNewText ? (change.messages ?? null) : before.messages,
    tools: kept(change.tools, before.tools),
    tool_choice: kept(change.tool_choice, before.tool_choice),
    inputs: kept(change.inputs, before.inputs),
    fallback_models: change.fallback_models ?? before.fallback_models,
    parameters: change.parameters ?? before.parameters,
    config: kept(change.config, before.config),
  };
}

/** The content that a version's calls are made from. */
export function contentOf({ template, messages, tools, tool_choice, inputs }: PromptContent): PromptContent {
  return { template, messages, tools, tool_choice, inputs };
}

/**
 * Checks the given fields on their own. Compiles the schemas, which may take seconds: call it before the transaction.
 * @param at path of the version in the request, with a dot at its end. Default: the request itself
 * @throws ApiError `invalid_request`, `temporarily_unavailable` if no thread is free
 */
export async function checkChange(
  pool: EvaluatorPool,
  workspaceId: string,
  { tools, parameters, fallback_models: fallbacks }: VersionChange,
  at = '',
): Promise<void> {
  for (const [index, model] of (fallbacks ?? []).entries()) checkModelName(model, `${at}fallback_models.${index}`);
  const schemas: CallersSchema[] = (tools ?? []).map(({ input_schema: schema }, index) => ({
    path: `${at}tools.${index}.input_schema`,
    schema,
  }));
  const format = parameters?.response_format;
  if (format?.type === 'json_schema')
    schemas.push({ path: `${at}parameters.response_format.json_schema.schema`, schema: format.json_schema.schema });
  await pool.checkSchemas(workspaceId, schemas);
}

function checkModelName(name: string, path: string): void {
  try {
    resolveModelName(name);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw invalidField(path, error.details?.[0]?.message ?? error.message);
  }
}

/**
 * Checks a version as a whole.
 * @param at path of the version in the request, with a dot at its end. Default: the request itself
 * @throws ApiError `invalid_request` if its parts don't fit together, no provider accepts it, or it is too large
 */
export function checkVersion(version: Version, at = ''): void {
  const details = versionFaults(version).map(({ path, message }) => ({ path: `${at}${path}`, message }));
  if (details.length > 0)
    throw new ApiError('invalid_request', details.map(({ path, message }) => `${path}: ${message}`).join('; '), {
      details,
    });
}

/** The fields of a version that differ from the version before. */
export function changedFields(before: Version, after: Version): string[] {
  const textOf = (value: unknown) => canonicalJson(JSON.parse(JSON.stringify(value ?? null)));
  const fields = Object.keys(EMPTY_VERSION) as (keyof typeof EMPTY_VERSION)[];
  return (['model', ...fields] as const).filter((field) => textOf(before[field]) !== textOf(after[field]));
}

/** Whether the content sent to a model differs: the text, the tools, or the response format. */
export function isOtherContent(before: Version, after: Version): boolean {
  const sent = ({ template, messages, tools, parameters }: Version) =>
    canonicalJson(JSON.parse(JSON.stringify([template, messages, tools, parameters.response_format ?? null])));
  return sent(before) !== sent(after);
}
