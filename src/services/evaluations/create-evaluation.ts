import type { Query } from '../../db/database.ts';
import { ApiError, type ErrorDetail, invalidField } from '../../domain/errors.ts';
import { evaluationStates } from '../../domain/evaluation-states.ts';
import type { Example } from '../../domain/example.ts';
import { newId, parsePublicId } from '../../domain/ids.ts';
import { parseTemplate } from '../../domain/template.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import { findExamples } from '../datasets/find-examples.ts';
import { storeExamples } from '../datasets/inline-examples.ts';
import { getPrompt, type PromptRow, type VersionSelector } from '../prompts/prompts.ts';
import { getEvaluation } from './evaluations.ts';

export interface NewEvaluation extends VersionSelector {
  /** UUID, where the caller is to know it before it is stored. */
  id?: string | undefined;
  promptName: string;
  /** One of both. */
  dataset?: { name: string; version?: number | undefined } | undefined;
  examples?: Example[] | undefined;
  evaluators: EvaluatorConfig[];
  threshold: number;
  /** `previous`, a public evaluation id, or null for none. */
  baseline: string | null;
  concurrency: number;
  /** US dollars, decimal. */
  maxCost?: string | undefined;
  startAt?: Date | undefined;
  metadata: Record<string, string>;
  scheduleId?: string | undefined;
}

/** What to start a workflow for. */
export interface StoredEvaluation {
  id: string;
  workspaceId: string;
  promptName: string;
  promptVersion: number;
  model: string;
  retries: number;
}

const MAX_DETAILS = 20;

const INSERT = {
  text: `insert into evaluations (workspace_id, id, prompt_name, prompt_version, template, model, provider, parameters,
           dataset_name, dataset_version, examples_id, examples_hash, examples_total, evaluators, threshold, baseline_mode,
           baseline_id, concurrency, max_cost, start_at, metadata, schedule_id, status, accepted_at, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
           '${evaluationStates.initial}', case when $22::uuid is not null then now() end, now())`,
};

/**
 * Inline examples are checked at once, each against the template. None is rendered: a thousand examples of a large template
 * would be a lot of text.
 */
function checkExamples(template: string, examples: Example[]): void {
  const parsed = parseTemplate(template);
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
 * A budget can only be kept where every call has a price.
 * @throws ApiError `invalid_request` on `max_cost`
 */
export function checkBudget(models: Models, model: string, evaluators: EvaluatorConfig[]): void {
  const judges = evaluators.flatMap((config) => (config.type === 'llm_judge' ? [config.model] : []));
  const unpriced = [model, ...judges].filter((name) => models.priceOf(name) === null);
  if (unpriced.length > 0)
    throw invalidField(
      'max_cost',
      `can't be kept, since ${[...new Set(unpriced)].join(' and ')} has no known price: leave it out, or let the operator add a price`,
    );
}

/** Evaluators whose judges can be called, under the full names of their models. */
function resolveJudges(models: Models, evaluators: EvaluatorConfig[]): EvaluatorConfig[] {
  return evaluators.map((config, index) => {
    if (config.type !== 'llm_judge') return config;
    try {
      return { ...config, model: models.resolve(config.model).model };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw invalidField(`evaluators.${index}.model`, error.details?.[0]?.message ?? error.message);
    }
  });
}

async function baselineOf(query: Query, baseline: string | null): Promise<{ mode: string; id: string | null }> {
  if (baseline === null) return { mode: 'none', id: null };
  if (baseline === 'previous') return { mode: 'previous', id: null };
  const id = parsePublicId('evaluation', baseline);
  const unknown = () => invalidField('baseline', 'is no evaluation of this workspace');
  if (id === undefined) throw unknown();
  const run = await getEvaluation(query, id).catch((error: unknown) => {
    throw error instanceof ApiError ? unknown() : error;
  });
  if (run.status !== 'completed') throw invalidField('baseline', `must have completed; it is ${run.status}`);
  return { mode: 'given', id: run.id };
}

/**
 * Checks everything that can be checked before a model is called, and stores the evaluation as `scheduled`. Runs in the
 * caller's transaction; the evaluators were compiled before it, which may take a while.
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request`
 */
export async function createEvaluation(
  query: Query,
  workspaceId: string,
  models: Models,
  request: NewEvaluation,
): Promise<StoredEvaluation> {
  const prompt: PromptRow = await getPrompt(query, request.promptName, request);
  if (prompt.archived_at !== null)
    throw new ApiError('prompt_archived', `The prompt "${prompt.name}" is archived. Restore it to evaluate it.`);
  const { model, provider } = models.resolve(prompt.model);
  const { examples, dataset } = request;
  const evaluators = resolveJudges(models, request.evaluators);
  if (request.maxCost !== undefined) checkBudget(models, model, evaluators);
  const baseline = await baselineOf(query, request.baseline);
  if (examples !== undefined) checkExamples(prompt.template, examples);
  const found = dataset && (await findExamples(query, dataset.name, dataset.version));
  const { examplesId, hash, total } = found ?? (await storeExamples(query, examples ?? []));
  const { id = newId() } = request;
  await query(INSERT, [
    id,
    prompt.name,
    prompt.version,
    prompt.template,
    model,
    provider,
    prompt.parameters,
    found?.datasetName ?? null,
    found?.version ?? null,
    examplesId,
    hash,
    total,
    JSON.stringify(evaluators),
    request.threshold,
    baseline.mode,
    baseline.id,
    request.concurrency,
    request.maxCost ?? null,
    request.startAt ?? null,
    request.metadata,
    request.scheduleId ?? null,
  ]);
  return { id, workspaceId, promptName: prompt.name, promptVersion: prompt.version, model, retries: 0 };
}
