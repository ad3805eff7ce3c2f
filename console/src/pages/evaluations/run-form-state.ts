import type { Evaluation } from '../../api-types.ts';
import type { Evaluator } from './evaluator.ts';
import type { CreateEvaluation, ScheduledEvaluation } from './types.ts';

export type ExecutionsSelection = NonNullable<CreateEvaluation['executions']>;

/** The raw input of a run form. */
export interface RunForm {
  /** Missing or empty for none. */
  name?: string;
  prompt: string;
  /** `latest`, `version:3` or `label:production`. */
  which: string;
  source: 'dataset' | 'inline' | 'executions';
  dataset: string;
  /** Empty for the latest. */
  datasetVersion: string;
  /** JSON Lines. */
  examples: string;
  /** A selection from the list of executions. */
  executions?: ExecutionsSelection;
  evaluators: Evaluator[];
  /** In percent. */
  threshold: string;
  /** `previous`, `none`, or an evaluation's id. */
  baseline: string;
  mode: 'interactive' | 'batch' | 'auto';
  /** For each batch, in API format: `24h`. */
  maxWait: string;
  leftovers: 'interactive' | 'fail';
  concurrency: string;
  /** US dollars. */
  maxCost: string;
  /** In the zone of the browser. */
  startAt: string;
}

export const EMPTY_RUN: RunForm = {
  prompt: '',
  which: 'latest',
  source: 'dataset',
  dataset: '',
  datasetVersion: '',
  examples: '{"variables": {"name": "Ada"}, "expected": "Hello Ada"}\n',
  evaluators: [{ type: 'exact_match' }],
  threshold: '80',
  baseline: 'previous',
  mode: 'interactive',
  maxWait: '24h',
  leftovers: 'interactive',
  concurrency: '20',
  maxCost: '',
  startAt: '',
};

/** A form for another version of a prompt over executions. Until evaluators are chosen, it counts the outputs that stay the same. */
export const formOfExecutions = (prompt: string, executions: ExecutionsSelection): RunForm => ({
  ...EMPTY_RUN,
  prompt,
  source: 'executions',
  executions: { expected: 'output', ...executions },
});

/** A form that repeats an existing run. */
export function formOf(evaluation: Evaluation): RunForm {
  const { dataset, max_cost, batch } = evaluation;
  return {
    ...EMPTY_RUN,
    prompt: evaluation.prompt_name,
    which: 'latest',
    source: dataset === null ? 'inline' : 'dataset',
    dataset: dataset?.name ?? '',
    examples: dataset === null ? '' : EMPTY_RUN.examples,
    evaluators: evaluation.evaluators as Evaluator[],
    threshold: String(Number((evaluation.threshold * 100).toFixed(6))),
    mode: evaluation.mode,
    ...(batch && { maxWait: batch.max_wait, leftovers: batch.then }),
    concurrency: String(evaluation.concurrency),
    maxCost: max_cost ?? '',
  };
}

/** Parses examples from JSON Lines. @throws Error that names the line */
export function readExamples(text: string): NonNullable<CreateEvaluation['examples']> {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line)];
    } catch {
      throw new Error(`Line ${index + 1} of the examples is not valid JSON.`);
    }
  });
}

/** The selected version of the prompt; empty for the latest. */
export function selectorOf({ which: chosen }: Pick<RunForm, 'which'>): { version?: number; label?: string } {
  const [kind, which = ''] = chosen.split(/:(.*)/s);
  return { ...(kind === 'version' && { version: Number(which) }), ...(kind === 'label' && { label: which }) };
}

/** @throws Error if the examples are not JSON */
function examplesOf(form: RunForm): Pick<ScheduledEvaluation, 'dataset' | 'examples'> {
  if (form.source !== 'dataset') return { examples: readExamples(form.examples) };
  const version = form.datasetVersion === '' ? {} : { version: Number(form.datasetVersion) };
  return { dataset: { name: form.dataset.trim(), ...version } };
}

/** All of it without the examples. */
function runOf(form: RunForm): Omit<ScheduledEvaluation, 'dataset' | 'examples'> {
  return {
    prompt_name: form.prompt.trim(),
    ...selectorOf(form),
    evaluators: form.evaluators as ScheduledEvaluation['evaluators'],
    ...(form.threshold !== '' && { threshold: Number((Number(form.threshold) / 100).toFixed(8)) }),
    baseline: form.baseline === 'none' ? null : form.baseline.trim(),
    ...(form.mode !== 'interactive' && {
      mode: form.mode,
      batch: { max_wait: form.maxWait, then: form.leftovers },
    }),
    ...(form.concurrency !== '' && { concurrency: Number(form.concurrency) }),
    ...(form.maxCost.trim() !== '' && { max_cost: form.maxCost.trim() }),
  };
}

/** The evaluation of a schedule. @throws Error if the examples are not JSON */
export const toScheduled = (form: RunForm): ScheduledEvaluation => ({ ...runOf(form), ...examplesOf(form) });

/** The body of `POST /evaluations`. @throws Error if the examples are not JSON */
export function toCreate(form: RunForm): CreateEvaluation {
  return {
    ...(form.name !== undefined && form.name.trim() !== '' && { name: form.name.trim() }),
    ...runOf(form),
    ...(form.source === 'executions' ? { executions: form.executions ?? {} } : examplesOf(form)),
    ...(form.startAt !== '' && { start_at: new Date(form.startAt).toISOString() as never }),
  };
}
