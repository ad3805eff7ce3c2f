import { formatJson } from '../../format.ts';
import type { Evaluator } from '../evaluations/evaluator.ts';
import type { CreateRelease, ReleaseCheck, ReleaseStep } from './types.ts';

export type StepType = ReleaseStep['type'];
const STEP_TYPES: readonly StepType[] = ['evaluate', 'approve', 'canary', 'analyze', 'wait', 'promote'];
export type StepsInput = NonNullable<CreateRelease['steps']>;

/** A check during editing: undefined means empty. */
export type EditedCheck = Omit<ReleaseCheck, 'metric' | 'against'> & {
  metric: string;
  against: 'stable' | number | undefined;
};

/** A step during editing; `key` identifies steps while they are moved. Only the fields of its type are sent. */
export interface EditedStep {
  key: number;
  type: StepType;
  dataset: string;
  /** Empty for the latest version at evaluation time. */
  datasetVersion: string;
  evaluators: Evaluator[];
  require: 'not_worse' | 'better' | 'threshold';
  /** 0–1. */
  threshold: number | undefined;
  maxRegressions: number | undefined;
  /** US dollars. */
  maxCost: string;
  count: number | undefined;
  excludeAuthor: boolean;
  percent: number | undefined;
  for: string;
  minExecutions: number | undefined;
  checks: EditedCheck[];
  bakes: boolean;
}

/** The raw input of a release's steps: in forms, or as JSON. */
export interface StepsForm {
  steps: EditedStep[];
  /** Undefined if the forms are used. */
  json: string | undefined;
}

let nextKey = 0;

export const newCheck = (): EditedCheck => ({
  metric: 'error_rate',
  against: 'stable',
  max_increase: 0.01,
  max_decrease: undefined,
  on_inconclusive: 'pause',
});

/** A step with default settings. */
export const newStep = (type: StepType): EditedStep => ({
  key: nextKey++,
  type,
  dataset: '',
  datasetVersion: '',
  evaluators: [{ type: 'exact_match' }],
  require: 'not_worse',
  threshold: undefined,
  maxRegressions: undefined,
  maxCost: '',
  count: 1,
  excludeAuthor: true,
  percent: 5,
  for: type === 'wait' ? '30m' : '1h',
  minExecutions: 200,
  checks: [newCheck()],
  bakes: false,
});

/** The usual steps to production. Without a dataset there is no evaluation. */
export const usualSteps = (hasDataset: boolean): StepsForm => ({
  steps: (hasDataset ? (['evaluate', 'approve'] as const) : (['approve'] as const))
    .map((type): EditedStep => newStep(type))
    .concat(newStep('canary'), newStep('analyze'), newStep('promote')),
  json: undefined,
});

/** A handwritten step, in which fields with defaults may be missing. */
type WrittenCheck = Partial<EditedCheck>;
type WrittenStep = {
  type: StepType;
  dataset?: string | { name: string; version?: number };
  evaluators?: Evaluator[];
  require?: EditedStep['require'];
  threshold?: number;
  max_regressions?: number;
  max_cost?: string;
  count?: number;
  exclude_author?: boolean;
  percent?: number;
  for?: string;
  min_executions?: number;
  checks?: WrittenCheck[];
  bake?: { for?: string; checks?: WrittenCheck[] };
};

const checksFrom = (checks: readonly WrittenCheck[]): EditedCheck[] =>
  checks.map((check) => ({ ...newCheck(), max_increase: undefined, ...check }));

function toEdited(step: WrittenStep): EditedStep {
  const { dataset = '', bake } = step;
  const { name, version } = typeof dataset === 'string' ? { name: dataset, version: undefined } : dataset;
  const edited = newStep(step.type);
  return {
    ...edited,
    dataset: name,
    datasetVersion: version === undefined ? '' : String(version),
    evaluators: step.evaluators ?? edited.evaluators,
    require: step.require ?? edited.require,
    threshold: step.threshold,
    maxRegressions: step.max_regressions,
    maxCost: step.max_cost ?? '',
    count: step.count ?? edited.count,
    excludeAuthor: step.exclude_author ?? edited.excludeAuthor,
    percent: step.percent ?? edited.percent,
    for: bake?.for ?? step.for ?? edited.for,
    minExecutions: step.min_executions ?? edited.minExecutions,
    checks: checksFrom(bake === undefined ? (step.checks ?? edited.checks) : (bake.checks ?? [])),
    bakes: bake !== undefined,
  };
}

/** The steps of a policy, for editing. */
export const formOf = (steps: readonly unknown[]): StepsForm => ({
  steps: (steps as WrittenStep[]).map(toEdited),
  json: undefined,
});

const checkOf = ({ metric, against, max_increase, max_decrease, on_inconclusive }: EditedCheck) => ({
  metric,
  ...(against !== undefined && { against }),
  ...(max_increase !== undefined && { max_increase }),
  ...(max_decrease !== undefined && { max_decrease }),
  on_inconclusive,
});

function stepOf(step: EditedStep): object {
  const { type } = step;
  switch (type) {
    case 'evaluate':
      return {
        type,
        dataset: {
          name: step.dataset.trim(),
          ...(step.datasetVersion !== '' && { version: Number(step.datasetVersion) }),
        },
        evaluators: step.evaluators,
        require: step.require,
        ...(step.require === 'threshold' && step.threshold !== undefined && { threshold: step.threshold }),
        ...(step.maxRegressions !== undefined && { max_regressions: step.maxRegressions }),
        ...(step.maxCost.trim() !== '' && { max_cost: step.maxCost.trim() }),
      };
    case 'approve':
      return { type, count: step.count ?? 1, exclude_author: step.excludeAuthor };
    case 'canary':
      return { type, percent: step.percent };
    case 'analyze':
      return { type, for: step.for.trim(), min_executions: step.minExecutions ?? 0, checks: step.checks.map(checkOf) };
    case 'wait':
      return { type, for: step.for.trim() };
    case 'promote':
      return { type, ...(step.bakes && { bake: { for: step.for.trim(), checks: step.checks.map(checkOf) } }) };
  }
}

/** The steps in API format. @throws Error if the text is not JSON */
export function readSteps({ steps, json }: StepsForm): StepsInput {
  if (json === undefined) return steps.map(stepOf) as StepsInput;
  let read: unknown;
  try {
    read = JSON.parse(json);
  } catch (error) {
    throw new Error(`The steps are not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(read)) throw new Error('The steps must be a JSON array.');
  return read as StepsInput;
}

export const asJson = (form: StepsForm): StepsForm => ({ ...form, json: formatJson(readSteps(form)) });

const isStep = (value: unknown): value is WrittenStep =>
  typeof value === 'object' && value !== null && STEP_TYPES.some((type) => 'type' in value && value.type === type);

/** Converts back to forms. @throws Error if the text is not JSON, or has an unknown type of step */
export function asForms(form: StepsForm): StepsForm {
  const steps: readonly unknown[] = readSteps(form);
  const other = steps.find((step) => !isStep(step));
  if (other !== undefined) throw new Error(`The forms can’t show this step: ${JSON.stringify(other).slice(0, 200)}`);
  return { steps: steps.filter(isStep).map(toEdited), json: undefined };
}
