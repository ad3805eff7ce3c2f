import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { asJson, prepared } from '../../../db/statement.ts';
import { ApiError, invalidField } from '../../../domain/errors.ts';
import { executionStates } from '../../../domain/execution-states.ts';
import type { ChatMessage, ModelInput } from '../../../domain/prompts/messages.ts';
import type { ModelParameters } from '../../../domain/prompts/parameters.ts';
import { charsOf, includedVersions, parsePrompt, TemplateVariablesError } from '../../../domain/prompts/prompt.ts';
import type { Tool, ToolChoice } from '../../../domain/prompts/prompt-content.ts';
import { providerOptionsProblem } from '../../../domain/prompts/provider-options.ts';
import { rolloutKeyOf } from '../../../domain/releases/rollout.ts';
import type { JsonValue } from '../../../domain/text/json.ts';
import { afterOthers } from '../../../lib/event-loop.ts';
import type { Models } from '../../../models/model.ts';
import { resolveIncludes } from '../../prompts/includes.ts';
import { type Assumption, type DecidedBy, type FindVersion, isAsAssumed } from '../../prompts/known-versions.ts';
import { callHashOf } from './call-hash.ts';
import { modelsToCall } from './models-to-call.ts';
import { type VersionRequest, versionToRun } from './version-to-run.ts';

export interface NewExecution extends VersionRequest {
  /** UUID, made by the caller so that it can withdraw an execution of which it can't tell whether it was stored. */
  id: string;
  variables: Record<string, JsonValue>;
  /** Appended to the prompt's own. */
  messages?: ChatMessage[] | undefined;
  /** Laid over the prompt's own. */
  parameters?: ModelParameters | undefined;
  metadata: Record<string, string>;
  /** Decides which version of a release it gets: the same for the same key. Default: at random. */
  rolloutKey?: string | undefined;
  /** Whether what the model says is passed on as it comes. Default: false. */
  stream?: boolean | undefined;
}

/** An execution that can be stored. */
export interface PreparedExecution {
  id: string;
  promptName: string | null;
  promptVersion: number | null;
  /** By which the version was asked for. */
  label: string | null;
  model: string;
  provider: string;
  fallbackModels: string[];
  parameters: ModelParameters;
  variables: Record<string, JsonValue>;
  /** The filled template, or (else null) the filled list of messages. */
  input: string | null;
  inputMessages: ChatMessage[] | null;
  inputChars: number;
  tools: Tool[] | null;
  toolChoice: ToolChoice | null;
  includes: { name: string; version: number }[] | null;
  metadata: Record<string, string>;
  callHash: Buffer;
  streamed: boolean;
  /** `stage` null: it does not count, since the request changes what is run. */
  release: (Omit<DecidedBy, 'stage'> & { stage: number | null }) | null;
  /** What it is made from, where that was not read just now: see {@link insertExecution}. */
  assumption: Assumption | undefined;
}

/**
 * Checks everything that can be checked before a model is called.
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request` (variables, messages, includes, models, credentials)
 */
export async function prepareExecution(
  query: Query,
  { models, find }: { models: Models; find: FindVersion },
  request: NewExecution,
): Promise<PreparedExecution> {
  const { id, variables, metadata, messages, stream: streamed = false } = request;
  const rollout = rolloutKeyOf(request.rolloutKey);
  const { promptName, promptVersion, content, fields, assumption, release, ...version } = await versionToRun(
    query,
    find,
    request,
    rollout,
  );
  const includes = await resolveIncludes(query, content, fields.text, rollout.key);
  const input = fillOrRefuse(() => parsePrompt(content, includes).fill(variables, messages));
  // Filling it goes through all of it, and so does the hash.
  await afterOthers(typeof input === 'string' ? input.length : Number.POSITIVE_INFINITY);
  const { model, provider, fallbackModels } = modelsToCall(models, version, fields);
  const parameters = { ...version.parameters, ...request.parameters };
  // What the prompt was stored with may be refused since.
  const problem = providerOptionsProblem(parameters.provider_options ?? {});
  if (problem !== undefined)
    throw invalidField(['parameters', 'provider_options', ...problem.path].join('.'), problem.message);
  const tools = content.tools?.length === 0 ? null : content.tools;
  const toolChoice = tools === null ? null : content.tool_choice;
  const included = includedVersions(includes);
  return {
    id,
    promptName,
    promptVersion,
    label: promptName === null ? null : (request.label ?? null),
    model,
    provider,
    fallbackModels,
    parameters,
    variables,
    ...(typeof input === 'string' ? { input, inputMessages: null } : { input: null, inputMessages: input }),
    inputChars: charsOf(input),
    tools,
    toolChoice,
    includes: included.length === 0 ? null : included,
    metadata,
    callHash: callHashOf({ input, parameters, tools, toolChoice }),
    streamed,
    // Another model's errors, latency and cost say nothing of the version.
    release: release && { ...release, stage: request.model === undefined ? release.stage : null },
    assumption,
  };
}

function fillOrRefuse(fill: () => ModelInput): ModelInput {
  try {
    return fill();
  } catch (error) {
    if (!(error instanceof TemplateVariablesError)) throw error;
    throw new ApiError('invalid_request', error.message, { details: error.details });
  }
}

const NOTHING_ASSUMED = { promptId: null, version: null, pinned: null, label: null, releaseId: null, percent: null };
const NO_RELEASE = { releaseOf: null, releaseArm: null, releaseKeyed: null, releaseStage: null };

/** As the columns have it; `releaseId` is what is assumed. */
interface ReleaseColumns {
  releaseOf: string | null;
  releaseArm: DecidedBy['arm'] | null;
  releaseKeyed: boolean | null;
  releaseStage: number | null;
}

const INSERT = prepared<PreparedExecution & ReleaseColumns & { [Name in keyof Assumption]: Assumption[Name] | null }>()(
  (db, execution) => {
    const row = {
      id: execution.id,
      status: sql.lit(executionStates.initial),
      prompt_name: execution.promptName,
      prompt_version: execution.promptVersion,
      label: execution.label,
      model: execution.model,
      requested_model: execution.model,
      provider: execution.provider,
      fallback_models: execution.fallbackModels,
      parameters: asJson(execution.parameters),
      variables: asJson(execution.variables),
      input: execution.input,
      input_messages: asJson(execution.inputMessages),
      tools: asJson(execution.tools),
      tool_choice: asJson(execution.toolChoice),
      includes: asJson(execution.includes),
      metadata: asJson(execution.metadata),
      call_hash: execution.callHash,
      streamed: execution.streamed,
      release_id: execution.releaseOf,
      release_arm: execution.releaseArm,
      release_keyed: execution.releaseKeyed,
      release_stage: execution.releaseStage,
      created_at: now,
    };
    const columns = Object.keys(row) as (keyof typeof row)[];
    return db
      .insertInto('executions')
      .columns(columns)
      .expression(
        db.selectNoFrom(columns.map((column) => sql`${row[column]}`.as(column))).where(isAsAssumed(execution)),
      )
      .returning('id');
  },
);

/**
 * Stores an execution as `queued`.
 * @returns false where what it was made from is not as assumed: nothing is stored
 */
export async function insertExecution(query: Query, execution: PreparedExecution): Promise<boolean> {
  const { assumption = NOTHING_ASSUMED, release } = execution;
  const columns =
    release === null
      ? NO_RELEASE
      : {
          releaseOf: release.id,
          releaseArm: release.arm,
          releaseKeyed: release.keyed,
          releaseStage: release.stage,
        };
  return (await query(INSERT, { ...execution, ...assumption, ...columns })).length > 0;
}
