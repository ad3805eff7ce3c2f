import type { PromptVersion } from '../prompt-version.ts';
import type { Thing } from './report.ts';

/** A version of an imported prompt. */
export interface ImportedVersion extends PromptVersion {
  commit_message?: string | undefined;
  /** Creation time: ISO 8601 in UTC. Versions of all prompts are created in this order. */
  created_at?: string | undefined;
}

/** A prompt with its versions, oldest first. */
export interface ImportedPrompt {
  name: string;
  description?: string | undefined;
  /** For a new prompt; an existing one keeps its own. */
  newDescription?: string;
  archived: boolean;
  versions: ImportedVersion[];
  /** The target of each label: a position in `versions`, from 1. */
  labels: Record<string, number>;
  thing: Thing;
  /** The version numbers in the workspace, set by planning. */
  numbers?: number[];
}

/** One example of a dataset, as the service accepts it. */
export interface Example {
  id?: string | undefined;
  variables: Record<string, unknown>;
  expected?: unknown;
  metadata?: Record<string, unknown> | undefined;
}

/** Called for everything that changes or is left out while examples are read. */
export type NoteExample = (outcome: 'changed' | 'left out', what: string, at: string) => void;

/** A dataset whose examples are read on demand, possibly several times. */
export interface ImportedDataset {
  name: string;
  description?: string | undefined;
  thing: Thing;
  /** The version in the workspace: planned, and corrected once created. */
  pinned?: { name: string; version: number };
  read(note: NoteExample): AsyncIterable<Example>;
}

/** An evaluation definition: a body of `POST /v1/evaluations`. The service does not store definitions, so it becomes a file. */
export interface ImportedEvaluation {
  name: string;
  thing: Thing;
  definition: {
    prompt_name: string;
    /**
     * Set by planning, like the dataset's version, so that a later import of the same names does not change what the evaluation runs.
     */
    version?: number;
    dataset: string | { name: string; version: number };
    evaluators: Record<string, unknown>[];
    threshold?: number;
    example_threshold?: number;
    concurrency?: number;
  };
}

/** A schedule as `POST /v1/schedules` accepts it. */
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
  /** Names of custom headers, whose values are secret. */
  header_names: string[] | null;
}

/** A run executed elsewhere. */
export interface ImportedRun {
  /** Its id in the source, and its key here. */
  id: string;
  /** A record of `POST /v1/executions/record`, without its version. */
  body: Record<string, unknown>;
  /** Its prompt, and the position of its version in the import, from 1. */
  place: { name: string; place: number | undefined } | undefined;
}

/** A score of a run. */
export interface ImportedScore {
  /** The id of the run. */
  run: string;
  /** A score of `POST /v1/scores`, without its subject. */
  body: Record<string, unknown>;
}

/** A queue definition, and the runs pending in it. */
export interface ImportedQueue {
  name: string;
  thing: Thing;
  /** The body of `PUT /v1/queues/{name}`. */
  body: { score_names: string[]; description?: string };
  /** Ids of runs. */
  runs: string[];
}

/** Scores and their dependencies. */
export interface Scoring {
  definitions: { name: string; thing: Thing; definition: Record<string, unknown> }[];
  runs: ImportedRun[];
  scores: ImportedScore[];
  queues: ImportedQueue[];
}

/** The complete content of one import. */
export interface Import {
  prompts: ImportedPrompt[];
  datasets: ImportedDataset[];
  evaluations: ImportedEvaluation[];
  schedules: { definition: ScheduleDefinition; thing: Thing }[];
  webhooks: { definition: WebhookDefinition; thing: Thing }[];
  protectedLabels: { label: string; thing: Thing }[];
  scoring?: Scoring | undefined;
  /** A companion program to run elsewhere: texts by their paths in its folder. */
  project?: ReadonlyMap<string, string> | undefined;
}

export function emptyImport(): Import {
  return { prompts: [], datasets: [], evaluations: [], schedules: [], webhooks: [], protectedLabels: [] };
}

/** The import as a whole is impossible: a file can't be read, or belongs to another product. The message is for the user. */
export class ImportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImportError';
  }
}
