import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import type { Trial } from '../../domain/improvements/improvement.ts';
import { wordingOf } from '../../domain/improvements/parts.ts';
import { meanScore } from '../../domain/improvements/search.ts';
import type { Candidate as CandidateRow, ImprovementRow } from '../../services/improvements/improvements.ts';
import type { NewImprovement } from '../../services/improvements/plan-improvement.ts';
import { improvementWorkflowId } from '../../temporal/names.ts';
import { presentBatch, toMode } from '../evaluations/batch-options.ts';
import type { Candidate, CreateImprovement, Improvement } from './schema.ts';

/** Converts a parsed body to the form that services use. */
export function toNewImprovement(
  body: Omit<z.output<typeof CreateImprovement>, 'evaluators'> & Pick<NewImprovement, 'evaluators'>,
): NewImprovement {
  const {
    prompt_name: promptName,
    version,
    label,
    dataset,
    evaluators,
    max_cost: maxCost,
    deadline,
    mode,
    batch,
    ...rest
  } = body;
  const { model, prompt, parameters, instructions } = rest.reflection;
  return {
    promptName,
    version,
    label,
    dataset,
    evaluators,
    maxCost,
    deadline: deadline ?? null,
    request: {
      ...rest,
      reflection: { model, prompt: prompt ?? null, parameters, instructions: instructions ?? null },
      parts: rest.parts,
      feedback: rest.feedback ?? null,
      max_length: rest.max_length ?? null,
      example_threshold: rest.example_threshold ?? null,
      group_by: rest.group_by ?? null,
      seed: rest.seed ?? '',
      mode,
      batch: toMode({ mode, batch }).batch,
    },
  };
}

const meanOf = (trial: Trial | undefined) => (trial?.state === 'done' ? meanScore(trial.scores) : null);
/** Sums of floats have no more meaningful digits. */
const usd = (amount: number) => Number(amount.toFixed(9));

/** Presents an improvement. @param candidates all of its candidates, without which it is shown as far as its row goes */
export function presentImprovement(
  row: ImprovementRow,
  counts: Partial<Record<CandidateRow['status'], number>>,
  base: CandidateRow | undefined,
): z.input<typeof Improvement> {
  const { request, split, state } = row;
  const { batch, feedback, ...settings } = request;
  const of = (status: CandidateRow['status']) => counts[status] ?? 0;
  const { train, check, again } = base?.run.trials ?? {};
  return {
    id: publicId('improvement', row.id),
    status: row.status,
    status_reason: row.status_reason,
    phase: row.phase,
    error: row.error,
    prompt_name: row.prompt_name,
    prompt_version: row.prompt_version,
    dataset: { name: row.dataset_name, version: row.dataset_version },
    evaluators: row.evaluators,
    ...settings,
    feedback: feedback ? { limit: feedback.limit, scores: feedback.scores.length } : null,
    batch: batch && presentBatch(batch),
    max_cost: row.max_cost,
    deadline: row.deadline?.toISOString() ?? null,
    split: { train: split.train.length, check: split.check.length, held_out: split.held_out.length },
    spent: { ...state.spent, cost: usd(state.spent.cost), savings: usd(state.spent.savings) },
    base: { train: meanOf(train), check: meanOf(check), check_again: meanOf(again) },
    best: state.curve.length === 0 ? null : state.best,
    proposals: {
      made: Object.values(counts).reduce((sum, count) => sum + count, 0) - 1,
      rejected: of('rejected'),
      skipped: of('skipped'),
      tried: of('tried'),
      // Without the base.
      checked: of('checked') + of('finalist') - 1,
    },
    curve: state.curve.map((point) => ({ ...point, cost: usd(point.cost) })),
    stop_reason: row.stop_reason,
    verdict: row.verdict && { agreement: null, ...row.verdict },
    accepted:
      row.accepted_version === null
        ? null
        : {
            version: row.accepted_version,
            release_id: row.accepted_release_id === null ? null : publicId('release', row.accepted_release_id),
          },
    workflow_id: improvementWorkflowId(row.id),
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** Presents a candidate. @param base the candidate with number 0 */
export function presentCandidate(
  row: CandidateRow,
  improvement: ImprovementRow,
  base: CandidateRow | undefined,
): z.input<typeof Candidate> {
  const { content, run } = row;
  const { trials, reflections, examples } = run;
  const check = meanOf(trials.check);
  const costs = [...Object.values(trials).map(({ cost }) => cost), ...reflections.map(({ cost }) => cost ?? 0)];
  return {
    number: row.number,
    parent: row.parent,
    kind: row.kind,
    status: row.status,
    reject: row.reject,
    change: row.change,
    diagnosis: row.diagnosis ?? [],
    content,
    length: content === null ? null : wordingOf({ ...improvement.base, ...content }).length,
    minibatch:
      examples.length === 0
        ? null
        : { parent_score: meanOf(trials.parent), score: meanOf(trials.minibatch), examples: examples.length },
    check: check === null ? null : { score: check, difference: check - (meanOf(base?.run.trials.check) ?? check) },
    cost: usd(costs.reduce((sum, cost) => sum + cost, 0)),
    execution_ids: reflections.map(({ execution }) => publicId('execution', execution)),
    evaluation_ids: Object.fromEntries(
      Object.entries(trials).map(([name, { evaluation }]) => [name, publicId('evaluation', evaluation)]),
    ),
  };
}
