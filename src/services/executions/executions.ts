import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { type ExecutionStatus, executionStates } from '../../domain/execution-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelParameters } from '../../domain/parameters.ts';
import { providerOptionsProblem } from '../../domain/provider-options.ts';
import { parseTemplate, TemplateVariablesError } from '../../domain/template.ts';
import type { Pricing } from '../../domain/usage.ts';
import type { Models } from '../../models/model.ts';
import { getPrompt, type VersionSelector } from '../prompts/prompts.ts';

/** A row of `executions`. */
export interface ExecutionRow {
  id: string;
  status: ExecutionStatus;
  prompt_name: string;
  prompt_version: number;
  model: string;
  provider: string;
  parameters: ModelParameters;
  variables: Record<string, JsonValue>;
  input: string;
  metadata: Record<string, string>;
  attempts: number;
  output: string | null;
  finish_reason: string | null;
  tokens_input: number;
  tokens_output: number;
  tokens_cached_input: number;
  tokens_reasoning: number;
  cost_amount: string | null;
  pricing: Pricing | null;
  model_ms: number | null;
  error: { code: string; message: string } | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
}

export const EXECUTION_COLUMNS = `id, status, prompt_name, prompt_version, model, provider, parameters, variables, input,
  metadata, attempts, output, finish_reason, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning,
  cost_amount, pricing, model_ms, error, created_at, started_at, finished_at`;

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

const INSERT = {
  name: 'insert-execution',
  text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables,
           input, metadata, created_at)
         values ($1, $2, '${executionStates.initial}', $3, $4, $5, $6, $7, $8, $9, $10, now())`,
};

/** What to start a workflow for. */
export interface QueuedExecution {
  id: string;
  workspaceId: string;
  promptName: string;
  promptVersion: number;
  model: string;
}

/** An execution that can be stored. */
export interface PreparedExecution extends QueuedExecution {
  /** Of {@link INSERT}, after the id. */
  values: unknown[];
}

/**
 * Checks everything that can be checked before a model is called.
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request` (variables, model, credentials)
 */
export async function prepareExecution(
  query: Query,
  workspaceId: string,
  models: Models,
  request: NewExecution,
): Promise<PreparedExecution> {
  const prompt = await getPrompt(query, request.promptName, request);
  if (prompt.archived_at !== null)
    throw new ApiError('prompt_archived', `The prompt "${prompt.name}" is archived. Restore it to run it.`);
  const input = renderOrRefuse(prompt.template, request.variables);
  const { model, provider } = models.resolve(request.model ?? prompt.model);
  const parameters = { ...prompt.parameters, ...request.parameters };
  // What the prompt was stored with may be refused since.
  const problem = providerOptionsProblem(parameters.provider_options ?? {});
  if (problem !== undefined)
    throw invalidField(['parameters', 'provider_options', ...problem.path].join('.'), problem.message);
  const { name: promptName, version: promptVersion } = prompt;
  const { id, variables, metadata } = request;
  const values = [promptName, promptVersion, model, provider, parameters, variables, input, metadata];
  return { id, workspaceId, promptName, promptVersion, model, values };
}

/** Stores an execution as `queued`. */
export async function insertExecution(query: Query, { id, values }: PreparedExecution): Promise<void> {
  await query(INSERT, [id, ...values]);
}

/** What to start a workflow for, of a row. */
export function queuedOf(workspaceId: string, row: ExecutionRow): QueuedExecution {
  const { id, prompt_name: promptName, prompt_version: promptVersion, model } = row;
  return { id, workspaceId, promptName, promptVersion, model };
}

function renderOrRefuse(template: string, variables: Record<string, JsonValue>): string {
  try {
    return parseTemplate(template).render(variables);
  } catch (error) {
    if (!(error instanceof TemplateVariablesError)) throw error;
    throw new ApiError('invalid_request', error.message, { details: error.details });
  }
}

const FIND = {
  name: 'find-execution',
  text: `select ${EXECUTION_COLUMNS} from executions where workspace_id = $1 and id = $2`,
};

/** @throws ApiError `not_found` */
export async function getExecution(db: WorkspaceDatabase, id: string): Promise<ExecutionRow> {
  const [row] = await db.query<ExecutionRow>(FIND, [id]);
  if (!row) throw notFound('This execution');
  return row;
}

export function isFinished(status: ExecutionStatus): boolean {
  return executionStates.final.includes(status);
}

export interface ExecutionFilter {
  promptName?: string | undefined;
  status?: ExecutionStatus | undefined;
  model?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/** Executions, newest first, a page of at most `limit` before the id `before`. */
export async function listExecutions(
  db: WorkspaceDatabase,
  filter: ExecutionFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<ExecutionRow>> {
  const values: unknown[] = [];
  const conditions = ['workspace_id = $1'];
  const where = (condition: string, value: unknown) => {
    if (value !== undefined) conditions.push(condition.replace('?', `$${values.push(value) + 1}`));
  };
  where('prompt_name = ?', filter.promptName);
  where('status = ?', filter.status);
  where('model = ?', filter.model);
  where('created_at >= ?', filter.since);
  where('created_at < ?', filter.until);
  const { from, to } = idsOfSpan(filter.since, filter.until);
  if (filter.since !== undefined) where('id >= ?', from);
  if (filter.until !== undefined) where('id < ?', to);
  where('id < ?', before);
  const select = `select ${EXECUTION_COLUMNS}, bytes from executions where ${conditions.join(' and ')}`;
  return readPage<ExecutionRow>(db.query, { select, orderBy: 'id desc', bytes: 'bytes' }, values, limit);
}
