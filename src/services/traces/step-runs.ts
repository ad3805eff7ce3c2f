import type { Query } from '../../db/database.ts';
import { parsePublicId, traceUuid } from '../../domain/ids.ts';
import { textOf } from '../../domain/prompts/messages.ts';
import { countJsonValues, MAX_JSON_VALUES } from '../../domain/text/json-count.ts';
import type { OwnUsage } from '../../domain/traces/own-usage.ts';
import type { Step } from '../../domain/traces/step.ts';
import type { Models } from '../../models/model.ts';
import { MAX_RUN_BYTES } from '../executions/recording/record-runs.ts';
import type { RecordedRun } from '../executions/recording/recorded-run.ts';
import { createRunModels, type RunModels } from '../executions/recording/run-cost.ts';

/** For a model whose provider or name is unknown. */
const UNKNOWN = 'unknown';
const MAX_MODEL_CHARS = 150;
const MAX_MODEL_MS = 7 * 24 * 60 * 60_000;
const MAX_CODE_CHARS = 100;
const [MAX_ENTRIES, MAX_ENTRY_NAME, MAX_ENTRY_VALUE] = [45, 64, 512];
/** The length of each text in a run whose texts are too large for an execution. */
const SHORT_TEXT_CHARS = 64 * 1024;
/** The most bytes that a character takes in JSON. */
const MAX_CHAR_BYTES = 6;
/** The limit of an execution, without the rest of its row. */
const TEXTS_BYTES = MAX_RUN_BYTES - 128 * 1024;

/** The fields of a step that a run needs. */
export type RunStep = Pick<
  Step,
  | 'traceId'
  | 'id'
  | 'parentId'
  | 'conversationId'
  | 'status'
  | 'error'
  | 'errorType'
  | 'startedAt'
  | 'endedAt'
  | 'model'
  | 'provider'
  | 'input'
  | 'output'
  | 'toolCalls'
  | 'tokens'
  | 'cost'
  | 'fallbackCost'
  | 'prompt'
  | 'release'
  | 'metadata'
>;

/** The prompts and releases of the workspace that steps name. */
export interface KnownNames {
  /** The latest version by name. */
  prompts: ReadonlyMap<string, number>;
  /** By UUID. */
  releases: ReadonlyMap<string, { prompt_name: string; stable_version: number; candidate_version: number }>;
}

const releaseIdOf = ({ release }: Pick<Step, 'release'>) => release && parsePublicId('release', release.id);

/** Finds the prompts and releases that steps name. */
export async function findNames(query: Query, steps: readonly Pick<Step, 'prompt' | 'release'>[]): Promise<KnownNames> {
  const names = [...new Set(steps.flatMap(({ prompt }) => (prompt === null ? [] : [prompt.name])))];
  if (names.length === 0) return { prompts: new Map(), releases: new Map() };
  const prompts = await query((db) =>
    db.selectFrom('prompts').select(['name', 'latest_version']).where('name', 'in', names),
  );
  const ids = [...new Set(steps.flatMap((step) => releaseIdOf(step) ?? []))];
  const releases =
    ids.length === 0
      ? []
      : await query((db) =>
          db
            .selectFrom('releases')
            .select(['id', 'prompt_name', 'stable_version', 'candidate_version'])
            .where('id', 'in', ids),
        );
  return {
    prompts: new Map(prompts.map((row) => [row.name, row.latest_version])),
    releases: new Map(releases.map((row) => [row.id, row])),
  };
}

/** The prompt and version of a step, and the release that chose the version, if they exist and agree. */
export function promptOf(step: Pick<Step, 'prompt' | 'release'>, known: KnownNames): Partial<RecordedRun> {
  const { prompt, release } = step;
  const latest = prompt === null ? undefined : known.prompts.get(prompt.name);
  if (prompt === null || latest === undefined) return {};
  const version =
    prompt.version !== null && prompt.version >= 1 && prompt.version <= latest ? prompt.version : undefined;
  const linked = { promptName: prompt.name, promptVersion: version };
  const id = releaseIdOf(step);
  const row = id ? known.releases.get(id) : undefined;
  if (!id || release === null || row?.prompt_name !== prompt.name) return linked;
  const released = release.arm === 'candidate' ? row.candidate_version : row.stable_version;
  return version === undefined || version === released
    ? { ...linked, promptVersion: released, release: { id, arm: release.arm, keyed: false } }
    : linked;
}

function metadataOf({ metadata, prompt }: RunStep, linked: Partial<RecordedRun>): Record<string, string> {
  const entries = Object.entries(metadata)
    .slice(0, MAX_ENTRIES)
    .map(([name, value]) => [name.slice(0, MAX_ENTRY_NAME), value.slice(0, MAX_ENTRY_VALUE)] as const)
    .map(([name, value]) => [name.toWellFormed(), value.toWellFormed()] as const)
    .filter(([name]) => name !== '');
  if (prompt !== null && linked.promptName === undefined)
    entries.push(['prompt_name', prompt.name.slice(0, MAX_ENTRY_VALUE)]);
  if (prompt?.version != null && linked.promptVersion === undefined)
    entries.push(['prompt_version', String(prompt.version)]);
  return Object.fromEntries(entries);
}

/** Texts in the size of an execution: larger ones are shortened. */
function textsOf({ input, output, toolCalls }: RunStep): Pick<RecordedRun, 'input' | 'output' | 'toolCalls'> {
  const whole = { input: input ?? '', output, toolCalls };
  const text = JSON.stringify(whole);
  if (text.length * MAX_CHAR_BYTES <= TEXTS_BYTES && text.length <= MAX_JSON_VALUES) return whole;
  const json = Buffer.from(text);
  if (json.length <= TEXTS_BYTES && countJsonValues(json, MAX_JSON_VALUES / 2) <= MAX_JSON_VALUES / 2) return whole;
  const short = (long: string) => long.slice(0, SHORT_TEXT_CHARS).toWellFormed();
  const asText = typeof whole.input === 'string' ? whole.input : whole.input.map(textOf).join('\n\n');
  return { input: short(asText), output: output && short(output), toolCalls: [] };
}

/** The full name of a step's model, whatever the span reports. */
function modelOf({ model, provider }: RunStep, models: RunModels, run: Omit<RecordedRun, 'model'>) {
  const name = (model ?? UNKNOWN).slice(0, MAX_MODEL_CHARS).toWellFormed();
  const given = { ...run, model: name, provider: provider?.slice(0, MAX_ENTRY_NAME).toWellFormed() };
  const found = models.name(given);
  return 'fault' in found ? { model: name, provider: UNKNOWN } : { model: name, provider: found.provider };
}

/** Turns model steps into runs that an application made itself. */
export interface StepRuns {
  /** @param own its own usage, if that is less than its span reports */
  runOf(step: RunStep, known: KnownNames, own?: OwnUsage): RecordedRun;
}

export function createStepRuns(models: Pick<Models, 'priceOf'>): StepRuns {
  const runModels = createRunModels(models);

  function priced(run: RecordedRun, fallback: string | null): RecordedRun {
    if (run.cost !== undefined || fallback === null) return run;
    const name = runModels.name(run);
    const isKnown = !('fault' in name) && runModels.cost(name.model, run).amount !== null;
    return isKnown ? run : { ...run, cost: fallback };
  }

  return {
    runOf(step, known, own) {
      if (step.endedAt === null) throw new Error('A step that has not ended is not a run.');
      const [startedAt, endedAt] = [
        new Date(step.startedAt / 1000),
        new Date(Math.min(step.endedAt / 1000, Date.now())),
      ];
      const finishedAt = endedAt < startedAt ? startedAt : endedAt;
      const linked = promptOf(step, known);
      const run: Omit<RecordedRun, 'model'> = {
        id: { key: `${step.traceId}:${step.id}` },
        ...linked,
        trace: { id: traceUuid(step.traceId), spanId: step.id, parentId: step.parentId, type: null },
        conversationId: step.conversationId ?? undefined,
        variables: {},
        ...textsOf(step),
        tokens: (own ? own.tokens : step.tokens) ?? undefined,
        cost: (own ? own.cost : step.cost) ?? undefined,
        modelMs: Math.min(Math.round((step.endedAt - step.startedAt) / 1000), MAX_MODEL_MS),
        error:
          step.status === 'error'
            ? { code: (step.errorType ?? 'error').slice(0, MAX_CODE_CHARS).toWellFormed(), message: step.error ?? '' }
            : null,
        startedAt,
        finishedAt,
        metadata: metadataOf(step, linked),
      };
      return priced({ ...run, ...modelOf(step, runModels, run) }, step.fallbackCost);
    },
  };
}

/** Which of the executions that steps name exist. */
export async function findOwn(query: Query, uuids: readonly string[]): Promise<ReadonlySet<string>> {
  if (uuids.length === 0) return new Set();
  const rows = await query((db) => db.selectFrom('executions').select('id').where('id', 'in', uuids));
  return new Set(rows.map(({ id }) => id));
}
