import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type Json, listOf, objectOf, textOf } from '../json.ts';
import type { LangfuseContents } from './langfuse.ts';
import { type LangfuseExperiments, noExperiments, withExperiments } from './langfuse-experiments.ts';
import { emptyScoring, type LangfuseScoring, subjectOfItem, subjectOfScore } from './langfuse-scores.ts';
import { ImportError } from './model.ts';
import { parseJson } from './source-files.ts';

const TIMEOUT_MS = 30_000;
const ATTEMPTS = 5;
const MAX_WAIT_MS = 60_000;
const PAGE_SIZE = 50;
const MAX_PAGES = 100_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Langfuse's address, and the keys of a project. */
export interface LangfuseAccess {
  /** Such as `https://cloud.langfuse.com`. */
  baseUrl: string;
  publicKey: string;
  secretKey: string;
}

/** Reads a body up to a limit, so that no server can exhaust the memory. */
async function readBody(response: Response, name: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new ImportError(`${name}: answers with more than 64 MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The path does not exist: other versions of Langfuse use another one. */
class NotThereError extends ImportError {}

const RETRIED = new Set([429, 502, 503, 504]);

function explain(status: number): string {
  if (status === 401 || status === 403) return 'the keys are refused: use the keys of the project';
  if (status >= 300 && status < 400) return 'it redirects: use the base URL that it redirects to';
  if (status === 404) return 'there is nothing at this address: check the base URL';
  return 'Langfuse could not answer';
}

/** A client for the parts of Langfuse's public API that an import reads. */
class LangfuseApi {
  readonly #access: LangfuseAccess;
  readonly #authorization: string;

  constructor(access: LangfuseAccess) {
    this.#access = access;
    this.#authorization = `Basic ${Buffer.from(`${access.publicKey}:${access.secretKey}`).toString('base64')}`;
  }

  /** @throws ImportError */
  async get(path: string): Promise<Json> {
    const url = `${this.#access.baseUrl.replace(/\/+$/, '')}/api/public/${path}`;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#once(url);
      if ('json' in answer) return answer.json;
      if (answer.status === 404) throw new NotThereError(`${url}: ${answer.problem}`);
      if (attempt === ATTEMPTS || answer.retryInMs === undefined) throw new ImportError(`${url}: ${answer.problem}`);
      await sleep(Math.min(answer.retryInMs || 250 * 2 ** attempt, MAX_WAIT_MS));
    }
  }

  async #once(
    url: string,
  ): Promise<{ json: Json } | { problem: string; retryInMs: number | undefined; status?: number }> {
    let response: Response;
    let text: string;
    try {
      // Following a redirect could leak the keys.
      response = await fetch(url, {
        headers: { Authorization: this.#authorization, Accept: 'application/json' },
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      text = await readBody(response, url);
    } catch (error) {
      if (error instanceof ImportError) throw error;
      const { cause } = error instanceof Error ? error : {};
      const why = cause instanceof Error ? cause.message : error instanceof Error ? error.message : '';
      return { problem: `can't be reached: ${why}`, retryInMs: 0 };
    }
    if (response.ok) {
      const json = parseJson(text, url);
      if (!isObject(json)) throw new ImportError(`${url}: the response is not an object`);
      return { json };
    }
    const waitS = Number(response.headers.get('Retry-After') ?? 0);
    const retryInMs = RETRIED.has(response.status) ? (Number.isFinite(waitS) ? waitS * 1000 : 0) : undefined;
    const { status } = response;
    return { problem: `HTTP ${status}: ${explain(status)}`, retryInMs, status };
  }

  /** All items of a list, page by page. */
  async *pages(path: string): AsyncGenerator<Json, void, undefined> {
    const joint = path.includes('?') ? '&' : '?';
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const { data, meta } = await this.get(`${path}${joint}page=${page}&limit=${PAGE_SIZE}`);
      for (const item of listOf(data)) yield objectOf(item);
      if (listOf(data).length === 0 || page >= Number(objectOf(meta)['totalPages'] ?? Number.POSITIVE_INFINITY)) return;
    }
  }

  /** The same for lists with a cursor. */
  async *cursorPages(path: string): AsyncGenerator<Json, void, undefined> {
    let cursor: string | undefined;
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const next = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { data, meta } = await this.get(`${path}&limit=100${next}`);
      for (const item of listOf(data)) yield objectOf(item);
      const after = textOf(objectOf(meta)['cursor']);
      if (after === undefined) return;
      if (after === cursor) throw new ImportError(`${path}: returns the same page repeatedly`);
      cursor = after;
    }
  }
}

/** All items; empty if this Langfuse does not have the list. */
async function allOf(items: AsyncIterable<Json>): Promise<Json[] | undefined> {
  const all: Json[] = [];
  try {
    for await (const item of items) all.push(item);
  } catch (error) {
    if (!(error instanceof NotThereError)) throw error;
    return undefined;
  }
  return all;
}

/** Reads observations through Langfuse's newer API if available, otherwise the previous one. */
class Observations {
  readonly #api: LangfuseApi;
  #isNew = true;

  constructor(api: LangfuseApi) {
    this.#api = api;
  }

  /** The observations of a trace, with their inputs and outputs. */
  async ofTrace(id: string): Promise<Json[]> {
    return this.#read(`traceId=${encodeURIComponent(id)}`, `observations?traceId=${encodeURIComponent(id)}`);
  }

  /** An observation whose trace is unknown; empty if it does not exist. */
  async one(id: string): Promise<Json[]> {
    const filter = JSON.stringify([{ type: 'string', column: 'id', operator: '=', value: id }]);
    const found = this.#isNew ? await this.#read(`filter=${encodeURIComponent(filter)}`, undefined) : [];
    if (this.#isNew) return found;
    try {
      return [await this.#api.get(`observations/${encodeURIComponent(id)}`)];
    } catch (error) {
      if (error instanceof NotThereError) return [];
      throw error;
    }
  }

  async #read(query: string, older: string | undefined): Promise<Json[]> {
    if (this.#isNew) {
      const found = await allOf(this.#api.cursorPages(`v2/observations?${query}&fields=${OBSERVATION_FIELDS}`));
      if (found !== undefined) return found;
      this.#isNew = false;
    }
    return older === undefined ? [] : ((await allOf(this.#api.pages(older))) ?? []);
  }
}

const OBSERVATION_FIELDS = 'core,basic,io,model,usage,prompt';

/** Before all experiments: the API requires a start time. */
const FROM = 'fromStartTime=2020-01-01T00%3A00%3A00Z';

/** Reads experiments, with the values of items that are not in a dataset. */
async function fetchExperiments(api: LangfuseApi): Promise<LangfuseExperiments> {
  const experiments = (await allOf(api.cursorPages(`experiments?${FROM}&fields=core,scores`))) ?? [];
  const items: Json[] = [];
  for (const { id, datasetId } of experiments) {
    const fields = textOf(datasetId) === undefined ? 'core,dataset,io,itemMetadata,scores' : 'core,dataset,scores';
    const path = `experiment-items?${FROM}&experimentId=${encodeURIComponent(String(id))}&fields=${fields}`;
    for await (const item of api.cursorPages(path)) items.push(item);
  }
  return { experiments, items };
}

/** Reads scores with their configs, queues with their pending items, and the observations of both. */
async function fetchScoring(api: LangfuseApi, experiments: LangfuseExperiments): Promise<LangfuseScoring> {
  const found = emptyScoring();
  found.configs = (await allOf(api.pages('score-configs'))) ?? [];
  found.scores =
    (await allOf(api.cursorPages('v3/scores?fields=details,subject'))) ?? (await allOf(api.pages('v2/scores'))) ?? [];
  found.queues = (await allOf(api.pages('annotation-queues'))) ?? [];
  for (const { id } of found.queues)
    found.items = found.items.concat(
      (await allOf(api.pages(`annotation-queues/${encodeURIComponent(String(id))}/items?status=PENDING`))) ?? [],
    );
  const traces = new Set<string>();
  const single = new Set<string>();
  for (const subject of [
    ...withExperiments(found, experiments).scores.map(subjectOfScore),
    ...found.items.map(subjectOfItem),
  ]) {
    const trace = subject?.kind === 'trace' ? subject.id : subject?.traceId;
    if (trace !== undefined) traces.add(trace);
    else if (subject?.kind === 'observation') single.add(subject.id);
  }
  const observations = new Observations(api);
  for (const trace of traces) for (const one of await observations.ofTrace(trace)) found.observations.push(one);
  for (const { id } of found.observations) single.delete(String(id));
  for (const id of single) for (const one of await observations.one(id)) found.observations.push(one);
  return found;
}

/**
 * Reads a project's prompts, in all versions with unresolved references, and its datasets, whose items are fetched on demand.
 * Scores are read with their subjects.
 * @throws ImportError naming what can't be reached or read
 */
export async function fetchLangfuse(access: LangfuseAccess): Promise<LangfuseContents> {
  if (!/^https?:\/\//.test(access.baseUrl) || URL.parse(access.baseUrl) === null)
    throw new ImportError(`${access.baseUrl}: is not a base URL such as https://cloud.langfuse.com`);
  const api = new LangfuseApi(access);
  const contents: LangfuseContents = {
    prompts: [],
    datasets: [],
    listed: [],
    scoring: emptyScoring(),
    experiments: noExperiments(),
  };
  for await (const { name, versions } of api.pages('v2/prompts')) {
    if (typeof name !== 'string') continue;
    for (const version of listOf(versions)
      .filter((one) => Number.isSafeInteger(one))
      .map(Number)) {
      const path = `v2/prompts/${encodeURIComponent(name)}?version=${version}&resolve=false`;
      contents.prompts.push({ name, version, record: await api.get(path) });
    }
  }
  for await (const { name, description } of api.pages('v2/datasets')) {
    if (typeof name !== 'string') continue;
    const items = () => api.pages(`dataset-items?datasetName=${encodeURIComponent(name)}`);
    contents.datasets.push({ name, description: textOf(description), items });
  }
  contents.experiments = await fetchExperiments(api);
  contents.scoring = await fetchScoring(api, contents.experiments);
  return contents;
}
