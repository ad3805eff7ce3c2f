import type { Check } from '../analysis/check.ts';
import type { JsonValue } from '../text/json.ts';

/** A check of a release. */
export interface ReleaseCheck extends Check {
  /** What happens if the time is over and the result is inconclusive. */
  on_inconclusive: 'pause' | 'continue' | 'rollback';
}

/** Time spans are texts such as `30m`, as written by callers: see {@link spanMs}. */
export type ReleaseStep =
  | {
      type: 'evaluate';
      dataset: { name: string; version?: number | undefined };
      /** The same as in evaluations. */
      evaluators: object[];
      require: 'not_worse' | 'better' | 'threshold';
      threshold?: number | undefined;
      max_regressions?: number | undefined;
      max_cost?: string | undefined;
    }
  | { type: 'approve'; count: number; exclude_author: boolean }
  | { type: 'canary'; percent: number; max_error_rate?: number | undefined }
  | {
      type: 'analyze';
      for: string;
      min_executions: number;
      checks: ReleaseCheck[];
      /** Whether runs recorded by applications count. Default: only runs of the service. */
      recorded?: boolean | undefined;
    }
  | { type: 'wait'; for: string }
  | {
      type: 'promote';
      bake?:
        | { for: string; checks: ReleaseCheck[]; max_error_rate?: number | undefined; recorded?: boolean | undefined }
        | undefined;
    };

export type ReleaseStepType = ReleaseStep['type'];
export const STEP_STATES = ['pending', 'active', 'passed', 'failed', 'inconclusive', 'skipped'] as const;

/** The progress of a step so far. Times are ISO 8601. */
export interface StepRun {
  state: (typeof STEP_STATES)[number];
  started_at: string | null;
  /** The earliest time at which it can be over. */
  due_at: string | null;
  finished_at: string | null;
  /** The numbers that the decision was based on. */
  numbers: JsonValue;
}

/** A step as stored. */
export type StoredStep = ReleaseStep & StepRun;

/** Who started, approved or decided about a release: a key, or (null) the service itself. */
export interface ReleaseActor {
  /** Public id. */
  key_id: string | null;
  /** Public id of the member who owns or created the key; missing in older records. */
  member_id?: string | null;
  name: string;
}

/** The person behind an actor: the same for all of the person's keys. Null for the service itself. */
export const personOf = ({ key_id, member_id }: ReleaseActor): string | null => member_id ?? key_id;

/** A decision about a release. */
export interface ReleaseDecision {
  at: string;
  step: number;
  verdict:
    | 'passed'
    | 'failed'
    | 'inconclusive'
    | 'approved'
    | 'rejected'
    | 'paused'
    | 'resumed'
    | 'promoted'
    | 'rolled_back'
    | 'canceled'
    | 'superseded';
  by: ReleaseActor;
  comment: string | null;
  numbers: JsonValue;
}

/** A person's approval of the candidate and of the results it had when the approval was requested. */
export interface ReleaseApproval {
  step: number;
  by: ReleaseActor;
  at: string;
  comment: string | null;
  candidate_version: number;
  /** Public id. */
  evaluation_id: string | null;
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
export const SPAN = /^(\d{1,7}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;
/** The longest span of a step. */
export const MAX_SPAN_MS = 30 * UNIT_MS.d;

/** `30m` in milliseconds. The text matches {@link SPAN}. */
export function spanMs(text: string): number {
  const [, count = '0', unit = 'ms'] = SPAN.exec(text) ?? [];
  return Math.round(Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]);
}

/** The interval at which an operator sees numbers move. */
const CHECK_EVERY_MS = 60_000;
const MIN_CHECK_EVERY_MS = 1_000;

/** How often a span of this length is checked: every minute, and a short one ten times. */
export const checkEveryMs = (forMs: number): number =>
  Math.min(CHECK_EVERY_MS, Math.max(MIN_CHECK_EVERY_MS, forMs / 10));

export const NOT_BEGUN: StepRun = {
  state: 'pending',
  started_at: null,
  due_at: null,
  finished_at: null,
  numbers: null,
};

/** The steps with a `promote` at the end, which can be omitted. */
export const withPromote = (steps: readonly ReleaseStep[]): ReleaseStep[] =>
  steps.at(-1)?.type === 'promote' ? [...steps] : [...steps, { type: 'promote' }];

/** The share of the candidate's executions that may fail, unless a step sets another one. */
export const MAX_ERROR_RATE = 0.5;

/** A step with the error rate from which the release is rolled back, if it serves the candidate to callers. */
export function withErrorBound(step: ReleaseStep): ReleaseStep {
  if (step.type === 'canary') return { max_error_rate: MAX_ERROR_RATE, ...step };
  if (step.type !== 'promote' || step.bake === undefined) return step;
  return { ...step, bake: { max_error_rate: MAX_ERROR_RATE, ...step.bake } };
}

/** The share of the candidate's executions that may fail at step `index`. Undefined: any, as in releases from before there was a bound. */
export function errorBoundOf(steps: readonly ReleaseStep[], index: number, percent: number): number | undefined {
  const step = steps[index];
  if (step?.type === 'promote') return step.bake?.max_error_rate;
  if (percent === 0) return undefined;
  const canary = steps.slice(0, index + 1).findLast(({ type }) => type === 'canary');
  return canary?.type === 'canary' ? canary.max_error_rate : undefined;
}

/** What step `index` checks while it lasts: its own checks, or, while a canary gets traffic, those of the next `analyze`. */
export function checksOf(steps: readonly ReleaseStep[], index: number, percent: number): readonly ReleaseCheck[] {
  const step = steps[index];
  if (step?.type === 'promote') return step.bake?.checks ?? [];
  if (percent === 0) return [];
  const next = steps.slice(index).find(({ type }) => type === 'analyze');
  return next?.type === 'analyze' ? next.checks : [];
}

/**
 * Whether runs recorded by applications count in the numbers of a stage, as set by its analysis or its bake.
 * @param stage index of the step that it started with
 */
export function countsRecorded(steps: readonly ReleaseStep[], stage: number): boolean {
  const [first, ...rest] = steps.slice(stage);
  if (first?.type === 'promote') return first.bake?.recorded === true;
  const next = rest.findIndex(({ type }) => type === 'canary' || type === 'promote');
  return rest.slice(0, next < 0 ? rest.length : next).some((step) => step.type === 'analyze' && step.recorded === true);
}

/** The metrics of the checks in steps, by the path of each in a request. @param path of the steps */
export const checksBySteps = (steps: readonly ReleaseStep[], path = 'steps') =>
  steps.flatMap((step, index) => {
    const [checks, field] =
      step.type === 'analyze'
        ? [step.checks, 'checks']
        : [step.type === 'promote' ? (step.bake?.checks ?? []) : [], 'bake.checks'];
    return checks.map(({ metric }, at) => ({ at: `${path}.${index}.${field}.${at}`, metric }));
  });

/** The steps of `wanted` that are missing in `done`. An approval by more people replaces one by fewer. */
export function missingSteps(wanted: readonly ReleaseStep[], done: readonly ReleaseStep[]): ReleaseStep[] {
  const left = [...done];
  return wanted.filter((step) => {
    const index = left.findIndex((each) => covers(each, step));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

function covers(done: ReleaseStep, wanted: ReleaseStep): boolean {
  if (done.type === 'approve' && wanted.type === 'approve')
    return done.count >= wanted.count && (done.exclude_author || !wanted.exclude_author);
  return Object.entries(wanted).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify((done as Record<string, unknown>)[name]),
  );
}

/** A step in words: `canary 5 %`. */
export function stepText(step: ReleaseStep): string {
  switch (step.type) {
    case 'evaluate':
      return `evaluate over ${step.dataset.name}, ${step.require.replace('_', ' ')}`;
    case 'approve':
      return `approval by ${step.count}`;
    case 'canary':
      return `canary ${step.percent} %`;
    case 'analyze':
      return `analyze for ${step.for}`;
    case 'wait':
      return `wait ${step.for}`;
    case 'promote':
      return step.bake === undefined ? 'promote' : `promote, bake ${step.bake.for}`;
  }
}

/** As JSON, for columns of any JSON. */
export const asJsonValue = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value ?? null)) as JsonValue;
