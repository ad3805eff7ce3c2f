import type { Evaluation } from '../../api-types.ts';
import type { Evaluator } from '../evaluations/evaluator.ts';
import { EMPTY_RUN, type RunForm, selectorOf } from '../evaluations/run-form-state.ts';
import type { CreateImprovement, Improvement } from './types.ts';

/** The raw input of the form: what it shares with a run, and its own fields. */
export interface ImprovementForm
  extends Pick<
    RunForm,
    'prompt' | 'which' | 'dataset' | 'datasetVersion' | 'evaluators' | 'mode' | 'maxWait' | 'leftovers' | 'concurrency'
  > {
  model: string;
  instructions: string;
  /** The name of an own prompt that asks for candidates. */
  reflectionPrompt: string;
  /** US dollars. */
  maxCost: string;
  isUnlimited: boolean;
  /** One text a line. */
  keep: string;
  /** Names separated by commas; empty for the default. */
  parts: string;
  fewShot: string;
  maxProposals: string;
  patience: string;
  parallel: string;
  minibatch: string;
  maxLength: string;
  groupBy: string;
  /** In the zone of the browser. */
  deadline: string;
}

const { prompt, which, dataset, datasetVersion, evaluators, mode, maxWait, leftovers, concurrency } = EMPTY_RUN;

export const EMPTY_IMPROVEMENT: ImprovementForm = {
  prompt,
  which,
  dataset,
  datasetVersion,
  evaluators,
  mode,
  maxWait,
  leftovers,
  concurrency,
  model: '',
  instructions: '',
  reflectionPrompt: '',
  maxCost: '',
  isUnlimited: false,
  keep: '',
  parts: '',
  fewShot: '0',
  maxProposals: '60',
  patience: '24',
  parallel: '2',
  minibatch: '8',
  maxLength: '',
  groupBy: '',
  deadline: '',
};

/** Evaluators that an improvement accepts: those of a caller's service would see held-out examples, those against one run do not fit. */
const usable = (all: readonly Evaluator[]): Evaluator[] => {
  const found = all
    .filter(({ type }) => type !== 'http')
    .map((each): Evaluator => {
      const { against: _, ...rest } = each;
      return rest as Evaluator;
    });
  return found.length === 0 ? EMPTY_IMPROVEMENT.evaluators : found;
};

/** A form for the prompt, dataset and evaluators of an evaluation. */
export const formOfEvaluation = (evaluation: Evaluation): ImprovementForm => ({
  ...EMPTY_IMPROVEMENT,
  prompt: evaluation.prompt_name,
  which: evaluation.prompt_version === 0 ? 'latest' : `version:${evaluation.prompt_version}`,
  dataset: evaluation.dataset?.name ?? '',
  evaluators: usable(evaluation.evaluators as Evaluator[]),
});

/** A form that repeats an improvement over the latest version and examples. */
export const formOfImprovement = (improvement: Improvement): ImprovementForm => ({
  ...EMPTY_IMPROVEMENT,
  prompt: improvement.prompt_name,
  dataset: improvement.dataset.name,
  evaluators: usable(improvement.evaluators as Evaluator[]),
  mode: improvement.mode as RunForm['mode'],
  concurrency: String(improvement.concurrency),
  model: improvement.reflection.model,
  instructions: textOf(improvement.reflection['instructions']),
  maxCost: improvement.max_cost ?? '',
  isUnlimited: improvement.max_cost === null,
  keep: improvement.keep.join('\n'),
  fewShot: String(improvement.few_shot),
  maxProposals: String(improvement.max_proposals),
  patience: String(improvement.patience),
  parallel: String(improvement.parallel),
  minibatch: String(improvement.minibatch),
  maxLength: improvement.max_length === null ? '' : String(improvement.max_length),
  groupBy: improvement.group_by ?? '',
});

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
const listOf = (text: string, separator: string) =>
  text
    .split(separator)
    .map((each) => each.trim())
    .filter((each) => each !== '');
const numberOf = <Name extends string>(name: Name, text: string) =>
  (text.trim() === '' ? {} : { [name]: Number(text) }) as { [Key in Name]?: number };

/** The body of `POST /improvements`; undefined while something that it needs is missing. */
export function toCreate(form: ImprovementForm): CreateImprovement | undefined {
  const model = form.model.trim();
  const cost = form.maxCost.trim();
  if (form.prompt.trim() === '' || form.dataset.trim() === '' || model === '') return undefined;
  if (cost === '' && !form.isUnlimited) return undefined;
  const parts = listOf(form.parts, ',');
  return {
    prompt_name: form.prompt.trim(),
    ...selectorOf(form),
    dataset: { name: form.dataset.trim(), ...numberOf('version', form.datasetVersion) },
    evaluators: form.evaluators as CreateImprovement['evaluators'],
    reflection: {
      model,
      ...(form.reflectionPrompt.trim() !== '' && { prompt: { name: form.reflectionPrompt.trim() } }),
      ...(form.instructions.trim() !== '' && { instructions: form.instructions.trim() }),
    },
    max_cost: form.isUnlimited ? null : cost,
    ...(parts.length > 0 && { parts }),
    keep: listOf(form.keep, '\n'),
    ...numberOf('few_shot', form.fewShot),
    ...numberOf('max_proposals', form.maxProposals),
    ...numberOf('patience', form.patience),
    ...numberOf('parallel', form.parallel),
    ...numberOf('minibatch', form.minibatch),
    ...numberOf('max_length', form.maxLength),
    ...numberOf('concurrency', form.concurrency),
    ...(form.groupBy.trim() !== '' && { group_by: form.groupBy.trim() }),
    ...(form.deadline !== '' && { deadline: new Date(form.deadline).toISOString() as never }),
    ...(form.mode !== 'interactive' && {
      mode: form.mode,
      batch: { max_wait: form.maxWait, then: form.leftovers },
    }),
  };
}
