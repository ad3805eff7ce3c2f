import type { WorkspaceDatabase } from '../../db/database.ts';
import type { BatchSettings } from '../../domain/batches/batch-mode.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import { callsOf, costOf, leastCost, type SearchPlan, warningsOf } from '../../domain/improvements/budget.ts';
import { missingKept } from '../../domain/improvements/guard.ts';
import type { ImprovementRequest } from '../../domain/improvements/improvement.ts';
import { defaultParts, readPart, readParts } from '../../domain/improvements/parts.ts';
import { MAX_PARTS_CHARS, REQUIRED_REFLECTION_VARIABLES } from '../../domain/improvements/reflection.ts';
import { type Split, type SplitEntry, splitEntry, splitExamples, splitFault } from '../../domain/improvements/split.ts';
import { leastProvable, neededP } from '../../domain/improvements/verdict.ts';
import { parsePrompt } from '../../domain/prompts/prompt.ts';
import type { Version } from '../../domain/prompts/prompt-version.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import { findExamples } from '../datasets/find-examples.ts';
import { readAllExamples } from '../datasets/read-examples.ts';
import { type NewEvaluation, resolveRun } from '../evaluations/creation/create-evaluation.ts';
import { estimateEvaluation } from '../evaluations/creation/estimate-evaluation.ts';
import { archived, getPrompt, type PromptRow, type VersionSelector } from '../prompts/prompts.ts';
import { contentOf } from '../prompts/version.ts';
import { chooseFeedback } from './feedback.ts';
import { readLedger } from './improvements.ts';
import { costOfCall, MAX_REFLECTION_CHARS, reserveFor } from './reflections.ts';

/** Examples of the dataset that are split; the others are not used. */
const MAX_SPLIT = 50_000;
/** Characters and tokens of a usual reflection, for the expected cost. */
const USUAL_REFLECTION = { chars: 15_000, tokens: 1_500 };

export interface NewImprovement extends VersionSelector {
  promptName: string;
  dataset: { name: string; version?: number | undefined };
  evaluators: EvaluatorConfig[];
  /** With defaults; `parts` undefined: those of the prompt. */
  request: Omit<ImprovementRequest, 'parts' | 'batch' | 'feedback'> & {
    /** The maximum number of scores by people that are shown; null: none. */
    feedback: { limit: number } | null;
    parts: string[] | undefined;
    batch: BatchSettings | undefined;
  };
  /** US dollars, decimal; null: no limit. */
  maxCost: string | null;
  deadline: Date | null;
}

/** A request with everything resolved. */
export interface PlannedImprovement {
  promptName: string;
  version: number;
  base: Version;
  evaluators: EvaluatorConfig[];
  request: ImprovementRequest;
  dataset: { name: string; version: number };
  split: Split;
  /** The keys of inputs that people have scored, and that the search is shown. */
  feedbackKeys: string[];
  plan: SearchPlan;
  maxCost: string | null;
  deadline: Date | null;
}

export interface ImprovementEstimate {
  split: { train: number; check: number; held_out: number };
  held_out: { fresh: number; look: number; p_needed: number; least_provable: number | null };
  calls: { expected: number; most: number };
  reflections: number;
  /** US dollars, decimal; null if a price is unknown. */
  cost: { expected: string; most: string } | null;
  warnings: string[];
}

/**
 * Checks everything that can be checked before a model is called, and splits the examples.
 * @throws ApiError `not_found`, `prompt_archived`, `invalid_request`
 */
export async function planImprovement(
  db: WorkspaceDatabase,
  models: Models,
  { promptName, version, label, dataset, request, maxCost, deadline, ...given }: NewImprovement,
): Promise<{ planned: PlannedImprovement; estimate: ImprovementEstimate }> {
  const { query } = db;
  const prompt = await getPrompt(query, promptName, { version, label });
  if (prompt.archived_at !== null) throw archived(promptName);
  const base = versionOf(prompt);
  const run: NewEvaluation = {
    promptName,
    version: prompt.version,
    dataset,
    evaluators: given.evaluators,
    threshold: 0,
    baseline: null,
    concurrency: request.concurrency,
    mode: request.mode,
    batch: request.batch,
    maxCost: maxCost ?? undefined,
    metadata: {},
  };
  const { content, includes, evaluators, batch } = await resolveRun(query, models, run);
  const parts = checkParts(base, request);
  const reflection = await checkReflection(db, models, request.reflection, maxCost);
  const { examplesId, version: datasetVersion, total } = await findExamples(query, dataset.name, dataset.version);
  const parsed = parsePrompt(content, includes);
  const entries: SplitEntry[] = [];
  let unfit = 0;
  let seq = 0;
  for await (const examples of readAllExamples(db.heavy.query, examplesId, Math.min(total, MAX_SPLIT)))
    for (const example of examples) {
      if (parsed.faults(example.variables, 1).length > 0) unfit += 1;
      else entries.push(splitEntry(seq, example, request.group_by ?? undefined));
      seq += 1;
    }
  const ledger = await readLedger(
    db.heavy.query,
    promptName,
    entries.map(({ key }) => key),
  );
  const split = splitExamples(entries, ledger);
  const fault = splitFault({
    train: split.train,
    check: split.check,
    held_out: split.held_out,
  });
  if (fault !== undefined) throw invalidField('dataset', fault);
  const feedback =
    request.feedback &&
    (await chooseFeedback(db.heavy.query, promptName, {
      split,
      groupBy: request.group_by ?? undefined,
      limit: request.feedback.limit,
    }));
  const planned: PlannedImprovement = {
    promptName,
    version: prompt.version,
    base,
    evaluators,
    request: {
      ...request,
      parts,
      reflection,
      batch,
      feedback: feedback && { limit: request.feedback?.limit ?? 0, scores: feedback.scores },
    },
    feedbackKeys: feedback?.keys ?? [],
    dataset: { name: dataset.name, version: datasetVersion },
    split,
    plan: {
      train: split.train.length,
      check: split.check.length,
      heldOut: split.held_out.length,
      maxProposals: request.max_proposals,
      parallel: request.parallel,
      minibatch: request.minibatch,
    },
    maxCost,
    deadline,
  };
  const { costUsd, modelCalls } = await estimateEvaluation(db, models, run);
  const example = costUsd === null || modelCalls === 0 ? null : Number(costUsd) / modelCalls;
  return { planned, estimate: estimateOf(models, planned, example, unfit) };
}

/** The content of a version, and what it is run with. */
export const versionOf = (prompt: PromptRow): Version => ({
  ...contentOf(prompt),
  model: prompt.model,
  fallback_models: prompt.fallback_models,
  parameters: prompt.parameters,
  config: prompt.config,
});

/** @throws ApiError `invalid_request` at `parts.N` or `keep.N` */
export function checkParts(
  base: Version,
  { parts, keep }: Pick<NewImprovement['request'], 'parts' | 'keep'>,
): string[] {
  const names = parts ?? defaultParts(base);
  for (const [index, name] of names.entries())
    if (readPart(base, name) === undefined)
      throw invalidField(`parts.${index}`, `does not name a text of this version: "${name}"`);
  if (names.length === 0) throw invalidField('parts', 'is required: the prompt has no text to improve by default');
  const chars = Object.values(readParts(base, names)).join('').length;
  if (chars > MAX_PARTS_CHARS)
    throw invalidField('parts', `must have at most ${MAX_PARTS_CHARS} characters together; they have ${chars}`);
  const missing = missingKept(base, keep);
  const [text] = missing;
  if (text !== undefined) throw invalidField(`keep.${keep.indexOf(text)}`, "is not in the prompt, so it can't be kept");
  return names;
}

/** @throws ApiError `invalid_request` at `reflection` or `max_cost` */
async function checkReflection(
  { query }: WorkspaceDatabase,
  models: Models,
  reflection: ImprovementRequest['reflection'],
  maxCost: string | null,
): Promise<ImprovementRequest['reflection']> {
  const { prompt } = reflection;
  const at = async <T>(field: string, work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw invalidField(field, error.details?.[0]?.message ?? error.message);
    }
  };
  const { model } = await at('reflection.model', () => models.resolve(reflection.model));
  if (prompt !== null) {
    const { variables } = await at('reflection.prompt', () => getPrompt(query, prompt.name, prompt));
    const missing = REQUIRED_REFLECTION_VARIABLES.filter((name) => !variables.includes(name));
    if (missing.length > 0)
      throw invalidField('reflection.prompt', `must use ${missing.map((name) => `{{ ${name} }}`).join(' and ')}`);
  }
  if (maxCost !== null && models.priceOf(model) === null)
    throw invalidField(
      'max_cost',
      `can't be enforced because ${model} has no known price: set it to null, or have the operator add a price`,
    );
  return { ...reflection, model };
}

const decimal = (usd: number) => String(Number(usd.toFixed(6)));

/** @param example US dollars of an example; null if unknown @throws ApiError `invalid_request` at `max_cost` */
function estimateOf(
  models: Models,
  { split, plan, request, base, maxCost }: PlannedImprovement,
  example: number | null,
  unfit: number,
): ImprovementEstimate {
  const most = reserveFor(models, request, MAX_REFLECTION_CHARS);
  const usual = costOfCall(models, request.reflection.model, USUAL_REFLECTION.chars, USUAL_REFLECTION.tokens);
  const isPriced = example !== null && most !== null && usual !== null;
  const least = isPriced ? leastCost(plan, { example, reflection: most }) : null;
  if (maxCost !== null && least !== null && Number(maxCost) < least)
    throw invalidField(
      'max_cost',
      `is too low for the runs of the base, one round and the verdict: set at least ${(Math.ceil(least * 1e4) / 1e4).toFixed(4)}, ` +
        'lower parallel, or limit max_tokens of the reflection',
    );
  const { check, train, held_out: heldOut, look, fresh } = split;
  return {
    split: { train: train.length, check: check.length, held_out: heldOut.length },
    held_out: {
      fresh,
      look,
      p_needed: neededP(look),
      least_provable: leastProvable(heldOut.length, look),
    },
    calls: callsOf(plan),
    reflections: request.max_proposals,
    cost: isPriced
      ? {
          expected: decimal(costOf(plan, { example, reflection: usual }).expected),
          most: decimal(costOf(plan, { example, reflection: most }).most),
        }
      : null,
    warnings: [
      ...warningsOf(plan),
      ...(request.batch !== null && maxCost !== null && base.parameters.max_tokens === undefined
        ? [
            'The prompt has no max_tokens, so with max_cost the first batch of each run has one call, and the next ones twice as many each: they take one wait after another. Set max_tokens.',
          ]
        : []),
      ...(unfit > 0 ? [`${unfit} examples lack a variable of the prompt, and are left out.`] : []),
      ...(look > 1
        ? [
            `Earlier verdicts have looked at these held-out examples: this one needs p ≤ ${decimal(neededP(look))}. New examples would need 0.05.`,
          ]
        : []),
    ],
  };
}
