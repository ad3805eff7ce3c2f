import type { Json } from '../json.ts';
import { mapNames } from '../names.ts';
import type { VersionRecord } from '../prompt-version.ts';
import type { Example, ImportedEvaluation, ScheduleDefinition, WebhookDefinition } from './model.ts';

/** A prompt version as returned by the API. */
export type PromptRecord = VersionRecord & {
  name: string;
  version: number;
  /** Labels that point at this version. */
  labels: string[];
  archived: boolean;
  description: string | null;
  commit_message: string | null;
  version_created_at: string;
};

/** A dataset as returned by the API. */
export interface DatasetRecord {
  name: string;
  version: number;
  examples_total: number;
  description: string | null;
}

/** The definition of a score name. */
export interface ScoreDefinitionRecord {
  name: string;
  data_type: string;
  min: number | null;
  max: number | null;
  categories: { value: string; label: string }[] | null;
  description: string | null;
  /** Whether it was defined explicitly rather than by its first score. */
  defined: boolean;
}

/** A queue as returned by the API. */
export interface QueueRecord {
  name: string;
  score_names: string[];
}

/**
 * The parts of a workspace that an export reads and an import compares with. The command line implements it with the client.
 */
export interface WorkspaceReader {
  /** All prompts, including archived ones, in their latest versions. */
  prompts(): AsyncIterable<PromptRecord>;
  /** All versions of a prompt, in any order. */
  versions(name: string): AsyncIterable<PromptRecord>;
  datasets(): AsyncIterable<DatasetRecord>;
  /** The examples of a dataset's latest version, in order: the lines of its JSONL export. */
  examples(name: string): AsyncIterable<Example>;
  schedules(): AsyncIterable<ScheduleDefinition>;
  webhooks(): AsyncIterable<WebhookDefinition>;
  /** Protected labels. */
  protectedLabels(): AsyncIterable<string>;
  scoreDefinitions(): AsyncIterable<ScoreDefinitionRecord>;
  queues(): AsyncIterable<QueueRecord>;
  /** The definition saved for an evaluation with this name; undefined if there is none. */
  savedEvaluation(name: string): Promise<unknown>;
}

/** The body of `POST /v1/prompts`. */
export type NewVersion = { name: string; model: string } & Record<string, unknown>;

/**
 * The writes of an import. Each rejects with {@link RefusedError} if the service rejects the one item, and can then continue with
 * others.
 */
export interface WorkspaceWriter {
  createVersion(version: NewVersion): Promise<void>;
  setLabel(name: string, label: string, version: number): Promise<void>;
  archive(name: string): Promise<void>;
  restore(name: string): Promise<void>;
  /**
   * @param lines JSON Lines, each with its newline
   * @returns the resulting version
   */
  uploadDataset(name: string, description: string | undefined, lines: AsyncIterable<Uint8Array>): Promise<number>;
  createSchedule(schedule: ScheduleDefinition): Promise<void>;
  /** @returns the new secret, which is shown only once */
  createWebhook(webhook: WebhookDefinition): Promise<{ secret: string }>;
  protectLabel(label: string): Promise<void>;
  setScoreDefinition(name: string, definition: Json): Promise<void>;
  createQueue(name: string, queue: Json): Promise<void>;
  /** @returns the ids of the executions in the order of the runs, including existing ones */
  recordRuns(runs: Json[]): Promise<string[]>;
  storeScores(scores: Json[]): Promise<void>;
  addToQueue(name: string, executionIds: string[]): Promise<void>;
  /** Saves the body of an evaluation to a file. */
  saveEvaluation(evaluation: ImportedEvaluation): Promise<void>;
}

/** The destination of an import. */
export type Destination = WorkspaceReader & WorkspaceWriter;

/** The service rejected one item, with this message. Other errors end an import. */
export class RefusedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RefusedError';
  }
}

/**
 * Whether a group has prompts from another location of the same product, as their descriptions say. @see ImportSettings.isFromElsewhere
 */
export async function isFromElsewhere(
  reader: Pick<WorkspaceReader, 'prompts'>,
  group: string,
  place: string,
): Promise<boolean> {
  const one = `${group}/prompt`;
  const beginning = (mapNames('prompt', [one]).get(one) ?? one).slice(0, -'prompt'.length);
  const product = place.slice(0, place.indexOf(':') + 1);
  for await (const { name, description } of reader.prompts())
    if (name.startsWith(beginning) && description?.startsWith(product) && description !== place) return true;
  return false;
}
