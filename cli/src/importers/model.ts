import type { PromptVersion } from '../prompt-version.ts';
import type { Thing } from './report.ts';

/** A version of an imported prompt. */
export interface ImportedVersion extends PromptVersion {
  commit_message?: string | undefined;
  /** When it was made: ISO 8601 in UTC. Versions of all prompts are made in this order. */
  created_at?: string | undefined;
}

/** A prompt with its versions, oldest first. */
export interface ImportedPrompt {
  name: string;
  description?: string | undefined;
  /** For a prompt that is not there yet: one that is keeps its own. */
  newDescription?: string;
  archived: boolean;
  versions: ImportedVersion[];
  /** What each label points at: a place in `versions`, from 1. */
  labels: Record<string, number>;
  thing: Thing;
  /** The numbers of the versions in the workspace, once it is planned. */
  numbers?: number[];
}

/** One example of a dataset, as the service takes it. */
export interface Example {
  id?: string | undefined;
  variables: Record<string, unknown>;
  expected?: unknown;
  metadata?: Record<string, unknown> | undefined;
}

/** Is told of what does not come over as it is, while examples are read. */
export type NoteExample = (outcome: 'changed' | 'left out', what: string, at: string) => void;

/** A dataset whose examples are read as they are needed, again where they are needed again. */
export interface ImportedDataset {
  name: string;
  description?: string | undefined;
  thing: Thing;
  /** The version that it is or becomes in the workspace, once it is planned; as it is once it is made. */
  pinned?: { name: string; version: number };
  read(note: NoteExample): AsyncIterable<Example>;
}

/** What an evaluation is to be like: a body of `POST /v1/evaluations`. The service keeps none, so it becomes a file. */
export interface ImportedEvaluation {
  name: string;
  thing: Thing;
  definition: {
    prompt_name: string;
    /** Set when it is planned, as that of the dataset: an import of the same names later does not change what the evaluation runs. */
    version?: number;
    dataset: string | { name: string; version: number };
    evaluators: Record<string, unknown>[];
    threshold?: number;
    example_threshold?: number;
    concurrency?: number;
  };
}

/** A schedule as `POST /v1/schedules` takes it. */
export interface ScheduleDefinition {
  name: string;
  cron: string;
  time_zone: string;
  paused: boolean;
  evaluation: unknown;
}

/** A webhook without its secret. */
export interface WebhookDefinition {
  url: string;
  events: string[];
  description: string | null;
  rate_limit_per_minute: number | null;
  status: string;
  /** Names of custom headers, whose values are secrets. */
  header_names: string[] | null;
}

/** A run that was made elsewhere. */
export interface ImportedRun {
  /** What it is called there, and its key here. */
  id: string;
  /** A record of `POST /v1/executions/record`, without its version. */
  body: Record<string, unknown>;
  /** Its prompt, and the place of its version in the import, from 1. */
  place: { name: string; place: number | undefined } | undefined;
}

/** A score of a run. */
export interface ImportedScore {
  /** The id of the run. */
  run: string;
  /** A score of `POST /v1/scores`, without its subject. */
  body: Record<string, unknown>;
}

/** What a queue is to be like, and the runs that wait in it. */
export interface ImportedQueue {
  name: string;
  thing: Thing;
  /** The body of `PUT /v1/queues/{name}`. */
  body: { score_names: string[]; description?: string };
  /** Ids of runs. */
  runs: string[];
}

/** Scores, with what they need. */
export interface Scoring {
  definitions: { name: string; thing: Thing; definition: Record<string, unknown> }[];
  runs: ImportedRun[];
  scores: ImportedScore[];
  queues: ImportedQueue[];
}

/** All that one import brings. */
export interface Import {
  prompts: ImportedPrompt[];
  datasets: ImportedDataset[];
  evaluations: ImportedEvaluation[];
  schedules: { definition: ScheduleDefinition; thing: Thing }[];
  webhooks: { definition: WebhookDefinition; thing: Thing }[];
  protectedLabels: { label: string; thing: Thing }[];
  scoring?: Scoring | undefined;
  /** A program that goes with it, to be run elsewhere: texts by their paths in its folder. */
  project?: ReadonlyMap<string, string> | undefined;
}

export function emptyImport(): Import {
  return { prompts: [], datasets: [], evaluations: [], schedules: [], webhooks: [], protectedLabels: [] };
}

/** What can't be imported at all: a file that can't be read, or is of another product. Its message is for the caller. */
export class ImportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImportError';
  }
}
