import type { BatchSettings, EvaluationMode } from '../batches/batch-mode.ts';
import type { ModelParameters } from '../prompts/parameters.ts';
import type { PromptContent } from '../prompts/prompt-content.ts';

// What the rows of improvements hold as JSON.

/** What comes next: runs of the base, proposals, or the two runs over held-out examples. */
export const IMPROVEMENT_PHASES = ['base', 'search', 'verdict'] as const;
export type ImprovementPhase = (typeof IMPROVEMENT_PHASES)[number];

/** The positions of examples in the version of the dataset. */
export interface ImprovementSplit {
  train: number[];
  check: number[];
  held_out: number[];
}

/** How the prompt is improved, as requested, with defaults. */
export interface ImprovementRequest {
  reflection: {
    /** Full name. */
    model: string;
    prompt: { name: string; version?: number | undefined; label?: string | undefined } | null;
    parameters: ModelParameters;
    instructions: string | null;
  };
  parts: string[];
  keep: string[];
  few_shot: number;
  /** What people said, as it was chosen at the start: UUIDs of scores. Missing in rows of before, null: none. */
  feedback?: { limit: number; scores: string[] } | null;
  max_proposals: number;
  parallel: number;
  minibatch: number;
  patience: number;
  max_length: number | null;
  example_threshold: number | null;
  concurrency: number;
  mode: EvaluationMode;
  batch: BatchSettings | null;
  reuse: { max_age: number };
  group_by: string | null;
  seed: string;
  metadata: Record<string, string>;
}

/** The texts of a candidate. Other fields are the base's. */
export type CandidateContent = Pick<PromptContent, 'template' | 'messages' | 'tools'>;

/** As records show it. */
export interface Failure {
  code: string;
  message: string;
}

/** One evaluation of a candidate. */
export interface Trial {
  /** UUID. */
  evaluation: string;
  /** `broken`: it ended without completing. */
  state: 'running' | 'done' | 'broken';
  /** Why it failed. */
  error?: Failure;
  /** In the order of its examples: a failed one is 0, one without a judge's score is null. Empty until it is done. */
  scores: (number | null)[];
  /** US dollars, as counted against the budget. */
  cost: number;
  /** Calls of the task's model, and examples that an earlier response answered. */
  calls: number;
  reused: number;
}

/** `parent`: of the parent on this candidate's minibatch. `again`: the base's second run of the check part, whose difference is noise. */
export type TrialName = 'train' | 'check' | 'again' | 'parent' | 'minibatch' | 'held_out';

/** What a candidate has led to so far. */
export interface CandidateRun {
  /** US dollars that it may spend; null: no limit. */
  purse: number | null;
  /** Its minibatch: indexes into the train part. */
  examples: number[];
  trials: { [Name in TrialName]?: Trial };
  /** The executions of its reflections: UUIDs, and their cost once they have ended. */
  reflections: {
    execution: string;
    /** US dollars that were set aside, and were paid: null until it has ended. */
    reserved: number;
    cost: number | null;
  }[];
  /** The texts of the parts, without those of shown examples. Null until they are written. */
  texts: Record<string, string> | null;
  /** The train examples that its messages show: indexes into the train part. */
  shots: number[];
}

/** Everything that has been paid. */
export interface Spending {
  /** US dollars, as counted against the budget. */
  cost: number;
  /** Calls of the task's model, without those that were answered by an earlier response. */
  calls: number;
  reused: number;
  reflections: number;
  /** US dollars that reused responses would have cost. */
  savings: number;
}

export interface CurvePoint {
  proposal: number;
  /** US dollars spent by then. */
  cost: number;
  /** The best score on the check part by then. */
  check: number;
}

export interface SearchState {
  spent: Spending;
  best: { number: number; check: number };
  curve: CurvePoint[];
  /** The difference of the base's two runs of the check part. */
  noise: number | null;
  /** The highest mean cost of an example so far, as if no response had been reused, in US dollars. */
  dearest: number;
  /** Characters of the longest input of a reflection; 0: none was sent. */
  reflectionChars: number;
  /** Whether the budget did not suffice for a step that had started. */
  outOfMoney: boolean;
  finalist: number | null;
  /** The number of the verdict over these held-out examples, counted from 1. */
  look: number | null;
  /** A UUID of the time of the last retry: what started earlier and failed, even if only later, runs again. */
  retried?: string;
}

export const NOTHING_SPENT: Spending = { cost: 0, calls: 0, reused: 0, reflections: 0, savings: 0 };
