import type { Json } from '../json.ts';
import { isSameJson } from '../json.ts';
import type { Import, ImportedRun, ImportedScore } from './model.ts';
import { RefusedError, type ScoreDefinitionRecord, type WorkspaceReader, type WorkspaceWriter } from './workspace.ts';

/** One change to scores or their subjects by an import. */
export type ScoringStep =
  | { kind: 'score definition'; name: string; definition: Json }
  | { kind: 'runs'; records: { id: string; body: Json }[] }
  | { kind: 'scores'; scores: ImportedScore[] }
  | { kind: 'queue'; name: string; body: Json }
  | { kind: 'queue items'; name: string; runs: string[] };

const KINDS: ReadonlySet<string> = new Set(['score definition', 'runs', 'scores', 'queue', 'queue items']);

export function isScoringStep(step: { kind: string }): step is ScoringStep {
  return KINDS.has(step.kind);
}

/** Describes a step in words. */
export function describeScoringStep(step: ScoringStep): string {
  switch (step.kind) {
    case 'score definition':
      return `score definition ${step.name}`;
    case 'runs':
      return `executions: ${step.records.length} recorded`;
    case 'scores':
      return `scores: ${step.scores.length} stored`;
    case 'queue':
      return `queue ${step.name}: created`;
    case 'queue items':
      return `queue ${step.name}: ${step.runs.length} items`;
  }
}

const MAX_BATCH = 200;
/** Request bodies stay well below the limit of the service. */
const MAX_BATCH_BYTES = 900_000;

/** Splits a list into request bodies of reasonable size. */
function batchesOf<Item>(items: Item[]): Item[][] {
  const batches: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const more = Buffer.byteLength(JSON.stringify(item));
    const last = batches.at(-1);
    if (last !== undefined && last.length < MAX_BATCH && bytes + more <= MAX_BATCH_BYTES) last.push(item);
    else batches.push([item]);
    bytes = batches.at(-1)?.length === 1 ? more : bytes + more;
  }
  return batches;
}

/** The run with its version's number in the workspace. */
function recordOf({ id, body, place }: ImportedRun, numbers: Map<string, number[] | undefined>) {
  const version = place?.place === undefined ? undefined : numbers.get(place.name)?.[place.place - 1];
  return { id, body: version === undefined ? body : { ...body, prompt_version: version } };
}

function isDefinedSo(known: ScoreDefinitionRecord, definition: Json): boolean {
  const { data_type, min, max, description } = known;
  const categories = known.categories?.map(({ value }) => ({ value })) ?? null;
  const all = { min: null, max: null, categories: null, description: null, ...definition };
  return known.defined && isSameJson({ data_type, min, max, categories, description }, all);
}

/** Plans the changes of an import to scores, their definitions and queues. What already exists is left unchanged. */
export async function planScoring({ scoring, prompts }: Import, reader: WorkspaceReader): Promise<ScoringStep[]> {
  if (scoring === undefined) return [];
  const steps: ScoringStep[] = [];
  const defined = new Map<string, ScoreDefinitionRecord>();
  if (scoring.definitions.length > 0)
    for await (const record of reader.scoreDefinitions()) defined.set(record.name, record);
  for (const { name, thing, definition } of scoring.definitions) {
    const known = defined.get(name);
    if (known === undefined) steps.push({ kind: 'score definition', name, definition });
    else if (!isDefinedSo(known, definition))
      thing.leaveOut('the workspace has this name with another definition, which stays');
  }
  const numbers = new Map(prompts.map((prompt) => [prompt.name, prompt.numbers]));
  for (const records of batchesOf(scoring.runs.map((run) => recordOf(run, numbers))))
    steps.push({ kind: 'runs', records });
  for (const scores of batchesOf(scoring.scores)) steps.push({ kind: 'scores', scores });
  const queues = new Map<string, string[]>();
  if (scoring.queues.length > 0)
    for await (const { name, score_names } of reader.queues()) queues.set(name, score_names);
  for (const { name, thing, body, runs } of scoring.queues) {
    const known = queues.get(name);
    if (known === undefined) steps.push({ kind: 'queue', name, body: { ...body } });
    else if (!isSameJson(known, body.score_names))
      thing.change('the workspace has a queue of this name with other scores, which stays: items are added to it');
    if (runs.length > 0) steps.push({ kind: 'queue items', name, runs });
  }
  return steps;
}

/** Sends a list; if it is rejected, sends the acceptable parts. @returns what was rejected, and why */
async function sendWhatCan<Item>(items: Item[], send: (items: Item[]) => Promise<void>): Promise<string[]> {
  if (items.length === 0) return [];
  try {
    await send(items);
    return [];
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (items.length === 1) return [error.message];
    const half = Math.ceil(items.length / 2);
    return [...(await sendWhatCan(items.slice(0, half), send)), ...(await sendWhatCan(items.slice(half), send))];
  }
}

/** Applies the steps of {@link planScoring}. It tracks which executions the runs have become. */
export class ScoringWriter {
  readonly #writer: WorkspaceWriter;
  readonly #executions = new Map<string, string>();

  constructor(writer: WorkspaceWriter) {
    this.#writer = writer;
  }

  /** @throws RefusedError with how much of the step was rejected, and why; the rest of it is applied */
  async make(step: ScoringStep): Promise<void> {
    if (step.kind === 'score definition') return this.#writer.setScoreDefinition(step.name, step.definition);
    if (step.kind === 'queue') return this.#writer.createQueue(step.name, step.body);
    if (step.kind === 'runs') return tell(await this.#record(step.records), step.records.length);
    if (step.kind === 'scores') {
      const known = step.scores.filter(({ run }) => this.#executions.has(run));
      const refused = await sendWhatCan(known, (scores) => this.#writer.storeScores(scores.map(this.#bodyOf)));
      return tell([...refused, ...lost(step.scores.length - known.length)], step.scores.length);
    }
    const ids = step.runs.flatMap((run) => this.#executions.get(run) ?? []);
    const refused = await sendWhatCan(ids, (some) => this.#addAll(step.name, some));
    return tell([...refused, ...lost(step.runs.length - ids.length)], step.runs.length);
  }

  readonly #bodyOf = ({ run, body }: ImportedScore): Json => ({
    ...body,
    subject: { execution_id: this.#executions.get(run) },
  });

  #record(records: { id: string; body: Json }[]): Promise<string[]> {
    return sendWhatCan(records, async (some) => {
      const ids = await this.#writer.recordRuns(some.map(({ body }) => body));
      for (const [index, { id }] of some.entries()) this.#executions.set(id, ids[index] ?? '');
    });
  }

  async #addAll(name: string, ids: string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += 1_000) await this.#writer.addToQueue(name, ids.slice(at, at + 1_000));
  }
}

const lost = (count: number): string[] => Array.from({ length: count }, () => 'its execution was not recorded');

function tell(refused: string[], all: number): void {
  if (refused.length > 0)
    throw new RefusedError(`${refused.length} of ${all} were refused, the others were created: ${refused[0]}`);
}
