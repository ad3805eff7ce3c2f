import { createHash } from 'node:crypto';
import { isObject, type Json, listOf, objectOf, shown, textOf } from '../json.ts';
import { parseExactly } from '../long-numbers.ts';
import { mapNames } from '../names.ts';
import type { ImportedRun, ImportedScore, Scoring } from './model.ts';
import type { Thing } from './report.ts';
import type { ImportSettings } from './settings.ts';

/** Score data from Langfuse's API. */
export interface LangfuseScoring {
  configs: Json[];
  /** From its API v3, or from v1 and v2. */
  scores: Json[];
  queues: Json[];
  /** Queue items. */
  items: Json[];
  /** The observations that are scored or in a queue. */
  observations: Json[];
}

export const emptyScoring = (): LangfuseScoring => ({
  configs: [],
  scores: [],
  queues: [],
  items: [],
  observations: [],
});

/** Maps versions of Langfuse's prompts to their new position. */
export type PlaceOf = (name: string, version: number) => { name: string; place: number | undefined };

/** The subject of a score or queue item. */
export interface Subject {
  kind: string;
  id: string;
  traceId?: string | undefined;
}

/** The subject of a score: in `subject` (v3), or in separate fields. */
export function subjectOfScore(score: Json): Subject | undefined {
  const { kind, id, traceId } = objectOf(score['subject']);
  if (typeof kind === 'string' && typeof id === 'string') return { kind, id, traceId: textOf(traceId) };
  const trace = textOf(score['traceId']);
  const observation = textOf(score['observationId']);
  if (observation !== undefined) return { kind: 'observation', id: observation, traceId: trace };
  if (trace !== undefined) return { kind: 'trace', id: trace };
  const session = textOf(score['sessionId']);
  if (session !== undefined) return { kind: 'session', id: session };
  const run = textOf(score['datasetRunId']);
  return run === undefined ? undefined : { kind: 'experiment', id: run };
}

export function subjectOfItem(item: Json): Subject | undefined {
  const id = textOf(item['objectId']);
  const kind = textOf(item['objectType'])?.toLowerCase();
  return id === undefined || kind === undefined ? undefined : { kind, id };
}

const MAX_COMMENT = 4_000;
const MAX_DESCRIPTION = 1_000;
const MAX_METADATA = 48;
const MAX_QUEUE_SCORES = 20;
/** Below the limit of a request body, with some margin. */
const MAX_RUN_BYTES = 900_000;
const MAX_AGE_MS = 365 * 24 * 60 * 60_000;
const TYPES = new Set(['numeric', 'boolean', 'categorical', 'text']);
const ROLES = new Set(['system', 'user', 'assistant']);
/** Model names that identify their provider. */
const KNOWN_MODEL = /^(gpt-|chatgpt-|o[134](-|$)|claude-|gemini-|mistral-(?!embed|ocr|moderation))[^:]*$/;

/** A stable id, so that every import gives a score the same one. */
function scoreId(score: Json): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['langfuse', score['projectId'], score['id']]))
    .digest('hex');
  const part = (from: number, to: number) => hex.slice(from, to);
  return `score_${part(0, 8)}-${part(8, 12)}-8${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`;
}

const dataTypeOf = (record: Json) => (textOf(record['dataType']) ?? 'NUMERIC').toLowerCase();

/** Converts the value. */
function valueOfScore(score: Json, type: string): number | boolean | string | undefined {
  const { value, stringValue } = score;
  if (type === 'boolean') {
    if (typeof value === 'boolean') return value;
    return value === 0 || value === 1 ? value === 1 : undefined;
  }
  if (type === 'numeric') return typeof value === 'number' ? value : undefined;
  return textOf(stringValue) ?? (typeof value === 'string' ? value : undefined);
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    // Also if a number would lose digits: the text preserves them.
    return text;
  }
}

const isMessage = (value: unknown) =>
  isObject(value) &&
  ROLES.has(String(value['role'])) &&
  typeof value['content'] === 'string' &&
  value['content'] !== '';

/** The input of a model: its messages if they are plain, otherwise a text. */
function inputOf(raw: unknown): string | { role: unknown; content: unknown }[] {
  const value = typeof raw === 'string' ? parsed(raw) : raw;
  const list = isObject(value) ? listOf(value['messages']) : listOf(value);
  if (list.length > 0 && list.length <= 200 && list.every(isMessage))
    return list.map(objectOf).map(({ role, content }) => ({ role, content }));
  if (raw === undefined || raw === null) return '';
  if (typeof value === 'string') return value;
  return typeof raw === 'string' ? raw : JSON.stringify(raw);
}

function outputOf(raw: unknown): string | undefined {
  if (raw === undefined || raw === null) return undefined;
  const value = typeof raw === 'string' ? parsed(raw) : raw;
  if (isMessage(value)) return String(objectOf(value)['content']);
  return typeof value === 'string' ? value : typeof raw === 'string' ? raw : JSON.stringify(raw);
}

const countOf = (value: unknown) => (Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined);

/** Tokens and cost, from `usageDetails` and `costDetails` or their predecessors. */
function spentOf(observation: Json): Json {
  const details = objectOf(observation['usageDetails'] ?? observation['usage']);
  const input = countOf(details['input']);
  const output = countOf(details['output']);
  const cost = [
    observation['totalCost'],
    observation['calculatedTotalCost'],
    objectOf(observation['costDetails'])['total'],
  ]
    .map(Number)
    .find((amount) => amount > 0 && Number.isFinite(amount));
  return {
    ...(input !== undefined && output !== undefined && { tokens: { input, output } }),
    ...(cost !== undefined && { cost }),
  };
}

const modelOf = (observation: Json) => textOf(observation['providedModelName']) ?? textOf(observation['model']);
const startOf = (observation: Json) => textOf(observation['startTime']) ?? '';

/** Finds the run that represents a trace or an observation. */
class Runs {
  readonly #settings: ImportSettings;
  readonly #placeOf: PlaceOf;
  readonly #byId = new Map<string, Json>();
  readonly #byTrace = new Map<string, Json[]>();
  readonly #made = new Map<string, ImportedRun | string>();
  #thing: Thing | undefined;

  constructor(observations: Json[], settings: ImportSettings, placeOf: PlaceOf) {
    this.#settings = settings;
    this.#placeOf = placeOf;
    for (const observation of observations) {
      const id = textOf(observation['id']);
      if (id === undefined || this.#byId.has(id)) continue;
      this.#byId.set(id, observation);
      const trace = textOf(observation['traceId']) ?? '';
      const all = this.#byTrace.get(trace) ?? [];
      all.push(observation);
      this.#byTrace.set(trace, all);
    }
  }

  get all(): ImportedRun[] {
    return [...this.#made.values()].filter((run) => typeof run !== 'string');
  }

  /**
   * The scored run, or the reason why there is none.
   * @param note called for changes
   */
  of(subject: Subject | undefined, note: (what: string, at: string) => void): ImportedRun | string {
    if (subject === undefined) return 'its subject is missing: save scores with fields=details,subject';
    const { kind, id } = subject;
    if (kind === 'observation') {
      const observation = this.#byId.get(id);
      return observation === undefined ? 'its observation is not there' : this.#runOf(id, observation);
    }
    if (kind !== 'trace') return `it is about ${kind === 'experiment' ? 'an' : 'a'} ${kind}, not an execution`;
    const generations = (this.#byTrace.get(id) ?? []).filter(
      (one) => one['type'] === 'GENERATION' || modelOf(one) !== undefined,
    );
    const last =
      generations.toSorted((a, b) => Date.parse(startOf(a)) - Date.parse(startOf(b))).at(-1) ?? this.#itemOf(id);
    if (last === undefined) return 'its trace has no generation';
    if (generations.length > 1) note('the last generation represents a trace with several', id);
    return this.#runOf(String(last['id']), last);
  }

  /** The experiment item of a trace, if it includes the values. */
  #itemOf(trace: string): Json | undefined {
    return (this.#byTrace.get(trace) ?? []).find((one) => 'experimentItemId' in one && 'output' in one);
  }

  #runOf(id: string, observation: Json): ImportedRun | string {
    const known = this.#made.get(id);
    if (known !== undefined) return known;
    const run = this.#build(id, observation);
    this.#made.set(id, run);
    return run;
  }

  #build(id: string, observation: Json): ImportedRun | string {
    const model = modelOf(observation) ?? this.#settings.defaultModel;
    const started = startOf(observation);
    if (model === undefined) return 'its observation names no model: set one for such observations with --model';
    if (!/^[\x21-\x7e]{1,200}$/.test(id)) return 'the id of its observation is not plain ASCII';
    if (Number.isNaN(Date.parse(started))) return 'its observation has no time';
    if (Date.parse(started) < Date.now() - MAX_AGE_MS) return 'its observation is more than a year old';
    const finished = textOf(observation['endTime']) ?? started;
    const name = textOf(observation['promptName']);
    const version = countOf(observation['promptVersion']);
    const place = name === undefined ? undefined : this.#placeOf(name, version ?? 0);
    const isFailed = observation['level'] === 'ERROR';
    const message = textOf(observation['statusMessage']) ?? 'no message';
    const traceId = textOf(observation['traceId']);
    const body: Json = {
      id,
      ...(place !== undefined && { prompt_name: place.name }),
      model: model.replace(/[^\x21-\x7e]/g, '-').slice(0, 200),
      ...(!model.includes('/') && !KNOWN_MODEL.test(model) && { provider: 'other' }),
      input: inputOf(observation['input']),
      output: outputOf(observation['output']) ?? (isFailed ? null : ''),
      ...spentOf(observation),
      ...(isFailed && { error: { code: 'langfuse_error', message: message.slice(0, 10_000) } }),
      started_at: started,
      finished_at: Date.parse(finished) < Date.parse(started) ? started : finished,
      metadata: { langfuse_observation_id: id, ...(traceId !== undefined && { langfuse_trace_id: traceId }) },
    };
    if (Buffer.byteLength(JSON.stringify(body)) > MAX_RUN_BYTES) return 'its observation has more than 900 kB';
    this.#thing ??= this.#settings.report.add('executions', 'of scores and queues');
    if ('provider' in body) this.#thing.change('the provider of its model is unknown and recorded as "other"', id);
    if (name !== undefined && version !== undefined && place?.place === undefined)
      this.#thing.change('its prompt version is left empty because it is not imported', id);
    return { id, body, place };
  }
}

/** Converts a score config to a score definition. */
function definitionOf(config: Json, thing: Thing): Json | undefined {
  const type = dataTypeOf(config);
  if (!TYPES.has(type)) {
    thing.leaveOut(`there are no scores of the type ${shown(config['dataType'])}`);
    return undefined;
  }
  const definition: Json = { data_type: type };
  const description = textOf(config['description']);
  if (description !== undefined) definition['description'] = description.slice(0, MAX_DESCRIPTION);
  if (type === 'numeric')
    for (const [field, limit] of [
      ['min', config['minValue']],
      ['max', config['maxValue']],
    ] as const)
      if (typeof limit === 'number') definition[field] = limit;
  if (type === 'categorical') {
    const labels = listOf(config['categories']).map((one) => textOf(objectOf(one)['label']));
    const values = labels.filter((label) => label !== undefined);
    if (values.length > 0) {
      definition['categories'] = values.map((value) => ({ value }));
      thing.change('the numbers of its categories are left out');
    }
  }
  if (config['isArchived'] === true) thing.change('it is archived in Langfuse');
  return definition;
}

const nameOf = (record: Json) => textOf(record['name']) ?? '';

/** @returns the conversion of Langfuse's scores, score configs and annotation queues */
export function importLangfuseScoring(found: LangfuseScoring, settings: ImportSettings, placeOf: PlaceOf): Scoring {
  const { report } = settings;
  const runs = new Runs(found.observations, settings, placeOf);
  const names = mapNames('score', [...found.configs, ...found.scores].map(nameOf));
  const called = (record: Json) => names.get(nameOf(record)) ?? nameOf(record);

  const definitions = new Map<string, Scoring['definitions'][number]>();
  const byConfigId = new Map<string, string>();
  // If several have the same name, active ones come first.
  for (const config of found.configs.toSorted(
    (a, b) => Number(a['isArchived'] === true) - Number(b['isArchived'] === true),
  )) {
    const name = called(config);
    byConfigId.set(String(config['id']), name);
    const thing = report.add('score definition', nameOf(config));
    if (definitions.has(name)) {
      thing.leaveOut('another one has this name');
      continue;
    }
    const definition = definitionOf(config, thing);
    if (definition === undefined) continue;
    thing.rename(name);
    definitions.set(name, { name, thing, definition });
  }

  const things = new Map<string, Thing>();
  const thingOf = (score: Json) => {
    const name = nameOf(score);
    const thing = things.get(name) ?? report.add('scores', name);
    if (!things.has(name)) thing.rename(called(score));
    things.set(name, thing);
    return thing;
  };
  const scores = found.scores.flatMap((score): ImportedScore[] => {
    const thing = thingOf(score);
    const type = dataTypeOf(score);
    const at = shown(score['id']);
    const leaveOut = (why: string) => {
      thing.change(`left out: ${why}`, at);
      return [];
    };
    if (!TYPES.has(type)) return leaveOut(`a score of the type ${shown(score['dataType'])}`);
    const value = valueOfScore(score, type);
    if (value === undefined) return leaveOut('it has no value');
    const run = runs.of(subjectOfScore(score), (what, trace) => thing.change(what, trace));
    if (typeof run === 'string') return leaveOut(run);
    return [{ run: run.id, body: { ...bodyOfScore(score, thing, at), name: called(score), value, data_type: type } }];
  });

  const queueNames = mapNames('queue', found.queues.map(nameOf));
  const queues = found.queues.flatMap((queue): Scoring['queues'] => {
    const thing = report.add('queue', nameOf(queue));
    const name = queueNames.get(nameOf(queue)) ?? nameOf(queue);
    const all = listOf(queue['scoreConfigIds']).map((id) => byConfigId.get(String(id)));
    const own = [...new Set(all.filter((one) => one !== undefined))];
    if (own.length < new Set(all).size) thing.change('scores without a config are left out');
    if (own.length === 0) {
      thing.leaveOut('all of its score configs are missing');
      return [];
    }
    if (own.length > MAX_QUEUE_SCORES) thing.change(`only the first ${MAX_QUEUE_SCORES} of its scores are imported`);
    thing.rename(name);
    const members = new Set<string>();
    for (const item of found.items.filter((one) => one['queueId'] === queue['id'] && one['status'] !== 'COMPLETED')) {
      const at = shown(item['id']);
      const run = runs.of(subjectOfItem(item), (what, trace) => thing.change(what, trace));
      if (typeof run === 'string') thing.change(`left out: an item: ${run}`, at);
      else members.add(run.id);
    }
    const description = textOf(queue['description'])?.slice(0, MAX_DESCRIPTION);
    const body = { score_names: own.slice(0, MAX_QUEUE_SCORES), ...(description !== undefined && { description }) };
    return [{ name, thing, body, runs: [...members] }];
  });
  return { definitions: [...definitions.values()], runs: runs.all, scores, queues };
}

function bodyOfScore(score: Json, thing: Thing, at: string): Json {
  const comment = textOf(score['comment']);
  if (comment !== undefined && comment.length > MAX_COMMENT) thing.change('a comment is cut', at);
  const given = Object.entries(objectOf(score['metadata']));
  if (given.length > MAX_METADATA) thing.change(`only ${MAX_METADATA} fields of its metadata are kept`, at);
  const timestamp = textOf(score['timestamp']);
  const source = String(score['source']).toUpperCase();
  return {
    id: scoreId(score),
    ...(source === 'ANNOTATION' && { source: 'person' }),
    ...(source === 'EVAL' && { evaluator: { rule: 'langfuse', version: 'imported' } }),
    ...(comment !== undefined && { comment: comment.slice(0, MAX_COMMENT) }),
    metadata: {
      ...Object.fromEntries(given.slice(0, MAX_METADATA)),
      langfuse_id: at,
      ...(timestamp !== undefined && { langfuse_timestamp: timestamp }),
    },
  };
}
