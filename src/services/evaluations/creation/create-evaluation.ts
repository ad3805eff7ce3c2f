import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { asJson } from '../../../db/statement.ts';
import type { BatchSettings, EvaluationMode } from '../../../domain/batches/batch-mode.ts';
import { ApiError, type ErrorDetail, invalidField } from '../../../domain/errors.ts';
import { NO_VERSION } from '../../../domain/evaluations/code-run.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import type { Example } from '../../../domain/evaluations/example.ts';
import { replayContent } from '../../../domain/evaluations/replay.ts';
import { type NamedEvaluator, overlapOf } from '../../../domain/evaluations/shared-evaluators.ts';
import { newId, parsePublicId } from '../../../domain/ids.ts';
import type { ModelParameters } from '../../../domain/prompts/parameters.ts';
import { parsePrompt } from '../../../domain/prompts/prompt.ts';
import type { IncludeSet, PromptContent } from '../../../domain/prompts/prompt-content.ts';
import { type EvaluatorConfig, evaluatorModelsOf, judgeModelsOf } from '../../../evaluators/registry.ts';
import type { Models } from '../../../models/model.ts';
import { findExamples } from '../../datasets/find-examples.ts';
import { storeExamples } from '../../datasets/inline-examples.ts';
import { type ModelsToCall, modelsToCall } from '../../executions/creation/models-to-call.ts';
import { versionToRun } from '../../executions/creation/version-to-run.ts';
import { resolveIncludes } from '../../prompts/includes.ts';
import { readVersion } from '../../prompts/known-versions.ts';
import { hasPrompt, type VersionSelector } from '../../prompts/prompts.ts';
import type { VersionChange } from '../../prompts/version.ts';
import { resolveJudges } from '../../saved-evaluators/resolve-judges.ts';
import type { Quotas } from '../../workspaces/quotas.ts';
import { type EvaluationRow, getEvaluation } from '../evaluations.ts';
import { decideMode } from './decide-mode.ts';
import { type ExecutionsToReplay, type Replayed, replayExecutions } from './replay-executions.ts';

export interface NewEvaluation extends VersionSelector {
  /** Runs instead of the version; see `versionToRun`. */
  draft?: VersionChange | undefined;
  /** UUID, if the caller needs to know it before the evaluation is stored. */
  id?: string | undefined;
  /** What its caller calls it. */
  name?: string | undefined;
  promptName: string;
  /** Exactly one of `dataset`, `examples` and `executions`. */
  dataset?: { name: string; version?: number | undefined } | undefined;
  examples?: Example[] | undefined;
  /** The baseline `previous` is then a second run, of their recorded outputs. */
  executions?: ExecutionsToReplay | undefined;
  /** Without their secrets. */
  evaluators: EvaluatorConfig[];
  /** Encrypted; see `sealEvaluators`. */
  evaluatorSecrets?: Buffer | null;
  threshold: number;
  /** Examples with at least this score count 1, others 0. Default: they count their score. */
  exampleThreshold?: number | undefined;
  /** `previous`, a public evaluation id, or null for none. */
  baseline: string | null;
  concurrency: number;
  /** Default: `interactive`. */
  mode?: EvaluationMode | undefined;
  batch?: BatchSettings | undefined;
  /** US dollars, decimal. */
  maxCost?: string | undefined;
  startAt?: Date | undefined;
  /** `max_age` in seconds. */
  reuse?: { max_age: number } | undefined;
  metadata: Record<string, string>;
  scheduleId?: string | undefined;
  /** The improvement that starts it: UUID. */
  improvementId?: string | undefined;
}

/** The evaluation that a workflow is started with. */
export interface StoredEvaluation {
  id: string;
  workspaceId: string;
  promptName: string;
  promptVersion: number;
  model: string;
  retries: number;
  examplesTotal: number;
  /** Both null if the examples came with the request. */
  datasetName: string | null;
  datasetVersion: number | null;
}

/** The columns of a stored evaluation, without its ids. */
export const STORED_COLUMNS = [
  'prompt_name as promptName',
  'prompt_version as promptVersion',
  'model',
  'retries',
  'examples_total as examplesTotal',
  'dataset_name as datasetName',
  'dataset_version as datasetVersion',
] as const;

/** The evaluation for starting a workflow, from a row. */
export function toStored(row: EvaluationRow): StoredEvaluation {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    promptName: row.prompt_name,
    promptVersion: row.prompt_version,
    model: row.model,
    retries: row.retries,
    examplesTotal: row.examples_total,
    datasetName: row.dataset_name,
    datasetVersion: row.dataset_version,
  };
}

const MAX_DETAILS = 20;

/**
 * Inline examples are checked immediately, each against the prompt. None is rendered, because a thousand examples of a large
 * template would be too much text.
 */
function checkExamples(content: PromptContent, includes: IncludeSet, examples: Example[]): void {
  const parsed = parsePrompt(content, includes);
  const details: ErrorDetail[] = [];
  for (const [index, { variables }] of examples.entries()) {
    if (details.length >= MAX_DETAILS) break;
    for (const { path, message } of parsed.faults(variables, MAX_DETAILS - details.length))
      details.push({ path: `examples.${index}.${path}`, message });
  }
  if (details.length > 0)
    throw new ApiError('invalid_request', details.map(({ path, message }) => `${path}: ${message}`).join('; '), {
      details,
    });
}

/**
 * A budget can only be enforced if every call has a price.
 * @param called the model and its fallbacks
 * @throws ApiError `invalid_request` on `max_cost`
 */
export function checkBudget(models: Models, called: readonly string[], evaluators: EvaluatorConfig[]): void {
  const unpriced = [...called, ...evaluatorModelsOf(evaluators)].filter((name) => models.priceOf(name) === null);
  if (unpriced.length > 0)
    throw invalidField(
      'max_cost',
      `can't be enforced because ${[...new Set(unpriced)].join(' and ')} has no known price: omit it, or have the operator add a price`,
    );
}

/**
 * @param evaluators those of the new run; the baseline must share at least one
 * @throws ApiError `invalid_request`
 */
export async function baselineOf(
  query: Query,
  baseline: string | null,
  evaluators: readonly NamedEvaluator[],
): Promise<{ mode: string; id: string | null }> {
  if (baseline === null) return { mode: 'none', id: null };
  if (baseline === 'previous') return { mode: 'previous', id: null };
  const id = parsePublicId('evaluation', baseline);
  const unknown = () => invalidField('baseline', 'is not an evaluation of this workspace');
  if (id === undefined) throw unknown();
  const run = await getEvaluation(query, id).catch((error: unknown) => {
    throw error instanceof ApiError ? unknown() : error;
  });
  if (run.status !== 'completed') throw invalidField('baseline', `must have completed; it is ${run.status}`);
  if (overlapOf(run.evaluators, evaluators).shared.length === 0)
    throw invalidField(
      'baseline',
      `can't be compared: it has none of these evaluators with the same options. It has: ${run.evaluators.map(({ name }) => name).join(', ')}`,
    );
  return { mode: 'given', id: run.id };
}

/**
 * Two outputs are compared example by example, so the other run must have the same examples.
 * @param examplesHash of the new run
 * @throws ApiError `invalid_request`
 */
export async function checkPairs(query: Query, evaluators: EvaluatorConfig[], examplesHash: Buffer): Promise<void> {
  for (const [index, config] of evaluators.entries()) {
    if (config.type !== 'pairwise' || config.against === undefined) continue;
    const refuse = (message: string) => invalidField(`evaluators.${index}.against`, message);
    const id = parsePublicId('evaluation', config.against) ?? '';
    const [other] = await query((db) =>
      db.selectFrom('evaluations').select(['status', 'examples_hash']).where('id', '=', id),
    );
    if (other === undefined) throw refuse('is not an evaluation of this workspace');
    if (other.status !== 'completed') throw refuse(`must have completed; it is ${other.status}`);
    if (!other.examples_hash.equals(examplesHash))
      throw refuse('must have the same examples: run both over the same version of the dataset');
  }
}

/** A request with everything resolved. */
export interface ResolvedRun {
  promptName: string;
  /** `NO_VERSION` for a draft. */
  promptVersion: number;
  parameters: ModelParameters;
  content: PromptContent;
  includes: IncludeSet;
  /** The model with its fallbacks, under their full names. */
  called: ModelsToCall;
  evaluators: EvaluatorConfig[];
  /** Null if calls are made one by one. */
  batch: BatchSettings | null;
  baseline: { mode: string; id: string | null };
  /** Executions as examples; their messages are filled, and the content is {@link replayContent}. */
  replayed: Replayed | undefined;
}

/**
 * Checks everything that can be checked before a model is called. The evaluators were compiled earlier, because that may take a while.
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request`
 */
export async function resolveRun(query: Query, models: Models, request: NewEvaluation): Promise<ResolvedRun> {
  const { promptName, draft, version, label } = request;
  const isNew = draft !== undefined && (version ?? label) === undefined && !(await hasPrompt(query, promptName));
  const { promptVersion, content, model, fallbackModels, parameters, fields } = await versionToRun(
    query,
    readVersion,
    isNew ? { draft } : request,
    undefined,
  );
  const includes = await resolveIncludes(query, content, fields.text ?? 'prompt_name');
  const called = modelsToCall(models, { model, fallbackModels }, fields);
  const evaluators = resolveJudges(models, request.evaluators);
  if (request.maxCost !== undefined) checkBudget(models, [called.model, ...called.fallbackModels], evaluators);
  const batch = decideMode(models, request, [called.model, ...judgeModelsOf(evaluators)]);
  const baseline = await baselineOf(query, request.baseline, evaluators);
  if (request.examples !== undefined) checkExamples(content, includes, request.examples);
  const run = { promptName, promptVersion: promptVersion ?? NO_VERSION, parameters, called, evaluators, batch };
  if (request.executions === undefined) return { ...run, content, includes, baseline, replayed: undefined };
  return {
    ...run,
    content: replayContent(content),
    includes: {},
    baseline: request.baseline === 'previous' ? { mode: 'recorded', id: newId() } : baseline,
    replayed: await replayExecutions(query, { content, includes }, request.executions),
  };
}

/**
 * Stores an evaluation as `scheduled`. Runs in the caller's transaction.
 * @throws as {@link resolveRun}, `quota_exceeded`
 */
export async function createEvaluation(
  query: Query,
  workspaceId: string,
  { models, quotas }: { models: Models; quotas: Pick<Quotas, 'require' | 'check'> },
  request: NewEvaluation,
): Promise<StoredEvaluation> {
  const run = await resolveRun(query, models, request);
  const { promptName, promptVersion, parameters, content, includes, called, batch, baseline, replayed } = run;
  const { model, provider, fallbackModels } = called;
  const { dataset } = request;
  const found = dataset && (await findExamples(query, dataset.name, dataset.version));
  const examples = replayed?.examples ?? request.examples ?? [];
  const { examplesId, hash, total } = found ?? (await storeExamples(query, quotas, examples));
  await checkPairs(query, run.evaluators, hash);
  const { id = newId() } = request;
  await query((db) =>
    db.insertInto('evaluations').values({
      ...sharedColumns(request, run),
      id,
      name: request.name ?? null,
      prompt_version: promptVersion,
      content: asJson(content),
      includes: asJson(includes),
      model,
      fallback_models: fallbackModels,
      provider,
      parameters: asJson(parameters),
      dataset_name: found?.datasetName ?? null,
      dataset_version: found?.version ?? null,
      examples_id: examplesId,
      examples_hash: hash,
      examples_total: total,
      baseline_mode: baseline.mode,
      baseline_id: baseline.id,
      batch: asJson(batch),
      start_at: request.startAt ?? null,
      reuse_max_age: request.reuse?.max_age ?? null,
      schedule_id: request.scheduleId ?? null,
      improvement_id: request.improvementId ?? null,
      // No caller waits for an evaluation that a schedule or an improvement starts.
      accepted_at: (request.scheduleId ?? request.improvementId) === undefined ? null : now,
    }),
  );
  if (baseline.mode === 'recorded' && baseline.id !== null && replayed !== undefined)
    await storeRecordedRun(query, { models, quotas }, baseline.id, { request, run, replayed });
  if (found === undefined) await quotas.require(query, 'datasetBytes');
  return {
    id,
    workspaceId,
    promptName,
    promptVersion,
    model,
    retries: 0,
    examplesTotal: total,
    datasetName: found?.datasetName ?? null,
    datasetVersion: found?.version ?? null,
  };
}

/** The columns that a run shares with the run of its recorded outputs. */
const sharedColumns = (request: NewEvaluation, { promptName, evaluators, replayed }: ResolvedRun) => ({
  prompt_name: promptName,
  evaluators: asJson(evaluators),
  evaluator_secrets: request.evaluatorSecrets ?? null,
  threshold: request.threshold,
  example_threshold: request.exampleThreshold ?? null,
  concurrency: request.concurrency,
  mode: request.mode ?? ('interactive' as const),
  max_cost: request.maxCost ?? null,
  metadata: asJson(request.metadata),
  from_executions: asJson(replayed?.from ?? null),
  status: evaluationStates.initial,
  created_at: now,
});

/**
 * Stores a run that scores recorded outputs: it is its own source, and calls no model except judges. It is accepted and started with the
 * run that is compared with it.
 */
async function storeRecordedRun(
  query: Query,
  { models, quotas }: { models: Models; quotas: Pick<Quotas, 'check'> },
  id: string,
  { request, run, replayed }: { request: NewEvaluation; run: ResolvedRun; replayed: Replayed },
): Promise<void> {
  const { examplesId, hash, total } = await storeExamples(query, quotas, replayed.recorded);
  const { mode = 'interactive', batch } = request;
  await query((db) =>
    db.insertInto('evaluations').values({
      ...sharedColumns(request, run),
      id,
      source_evaluation_id: id,
      prompt_version: NO_VERSION,
      content: asJson(replayContent({ tools: null, tool_choice: null })),
      model: replayed.model.name,
      provider: replayed.model.provider,
      parameters: asJson({}),
      examples_id: examplesId,
      examples_hash: hash,
      examples_total: total,
      baseline_mode: 'none',
      // There may be no judge.
      batch: asJson(
        decideMode(models, { mode: mode === 'interactive' ? mode : 'auto', batch }, judgeModelsOf(run.evaluators)),
      ),
    }),
  );
}
