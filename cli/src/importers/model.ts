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
  archived: boolean;
  versions: ImportedVersion[];
  /** What each label points at: a place in `versions`, from 1. */
  labels: Record<string, number>;
  thing: Thing;
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
  read(note: NoteExample): AsyncIterable<Example>;
}

/** What an evaluation is to be like: a body of `POST /v1/evaluations`. The service keeps none, so it becomes a file. */
export interface ImportedEvaluation {
  name: string;
  thing: Thing;
  definition: {
    prompt_name: string;
    dataset: string;
    evaluators: Record<string, unknown>[];
    threshold?: number;
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

/** All that one import brings. */
export interface Import {
  prompts: ImportedPrompt[];
  datasets: ImportedDataset[];
  evaluations: ImportedEvaluation[];
  schedules: { definition: ScheduleDefinition; thing: Thing }[];
  webhooks: { definition: WebhookDefinition; thing: Thing }[];
  protectedLabels: { label: string; thing: Thing }[];
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
