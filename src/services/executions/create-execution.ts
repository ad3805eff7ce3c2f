import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson, prepared } from '../../db/statement.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import { executionStates } from '../../domain/execution-states.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import { parsePrompt, TemplateVariablesError } from '../../domain/prompt.ts';
import type { IncludeSet, PromptContent } from '../../domain/prompt-content.ts';
import { providerOptionsProblem } from '../../domain/provider-options.ts';
import type { Models } from '../../models/model.ts';
import { resolveIncludes } from '../prompts/includes.ts';
import { getPrompt, type VersionSelector } from '../prompts/prompts.ts';
import { contentOf } from '../prompts/version.ts';

export interface NewExecution extends VersionSelector {
  /** UUID, made by the caller so that it can withdraw an execution of which it can't tell whether it was stored. */
  id: string;
  promptName: string;
  variables: Record<string, JsonValue>;
  model?: string | undefined;
  /** Laid over the prompt's own. */
  parameters?: ModelParameters | undefined;
  metadata: Record<string, string>;
}

/** An execution that can be stored. */
export interface PreparedExecution {
  id: string;
  promptName: string;
  promptVersion: number;
  model: string;
  provider: string;
  parameters: ModelParameters;
  variables: Record<string, JsonValue>;
  /** The template with its variables filled in. */
  input: string;
  metadata: Record<string, string>;
}

/**
 * Checks everything that can be checked before a model is called.
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request` (variables, model, credentials)
 */
export async function prepareExecution(
  query: Query,
  models: Models,
  request: NewExecution,
): Promise<PreparedExecution> {
  const prompt = await getPrompt(query, request.promptName, request);
  if (prompt.archived_at !== null)
    throw new ApiError('prompt_archived', `The prompt "${prompt.name}" is archived. Restore it to run it.`);
  const { id, variables, metadata } = request;
  const content = contentOf(prompt);
  const input = renderOrRefuse(content, await resolveIncludes(query, content), variables);
  const { model, provider } = models.resolve(request.model ?? prompt.model);
  const parameters = { ...prompt.parameters, ...request.parameters };
  // What the prompt was stored with may be refused since.
  const problem = providerOptionsProblem(parameters.provider_options ?? {});
  if (problem !== undefined)
    throw invalidField(['parameters', 'provider_options', ...problem.path].join('.'), problem.message);
  const { name: promptName, version: promptVersion } = prompt;
  return { id, promptName, promptVersion, model, provider, parameters, variables, input, metadata };
}

function renderOrRefuse(content: PromptContent, includes: IncludeSet, variables: Record<string, JsonValue>): string {
  try {
    const input = parsePrompt(content, includes).fill(variables);
    if (typeof input === 'string') return input;
    throw invalidField('prompt_name', 'is a prompt with messages, which can not be run yet');
  } catch (error) {
    if (!(error instanceof TemplateVariablesError)) throw error;
    throw new ApiError('invalid_request', error.message, { details: error.details });
  }
}

const INSERT = prepared<PreparedExecution>()((db, execution) =>
  db.insertInto('executions').values({
    id: execution.id,
    status: executionStates.initial,
    prompt_name: execution.promptName,
    prompt_version: execution.promptVersion,
    model: execution.model,
    provider: execution.provider,
    parameters: asJson(execution.parameters),
    variables: asJson(execution.variables),
    input: execution.input,
    metadata: asJson(execution.metadata),
    created_at: now,
  }),
);

/** Stores an execution as `queued`. */
export async function insertExecution(query: Query, execution: PreparedExecution): Promise<void> {
  await query(INSERT, execution);
}
