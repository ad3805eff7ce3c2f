import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type Json, listOf, objectOf, textOf } from '../json.ts';
import type { LangfuseContents } from './langfuse.ts';
import { ImportError } from './model.ts';
import { parseJson } from './source-files.ts';

const TIMEOUT_MS = 30_000;
const ATTEMPTS = 5;
const MAX_WAIT_MS = 60_000;
const PAGE_SIZE = 50;
const MAX_PAGES = 100_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Where Langfuse is, and the keys of a project. */
export interface LangfuseAccess {
  /** Such as `https://cloud.langfuse.com`. */
  baseUrl: string;
  publicKey: string;
  secretKey: string;
}

/** Reads a body up to a limit, so that no server fills the memory. */
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

const RETRIED = new Set([429, 502, 503, 504]);

function explain(status: number): string {
  if (status === 401 || status === 403) return 'the keys are refused: give those of the project';
  if (status >= 300 && status < 400) return 'it redirects elsewhere: give the base URL that it redirects to';
  if (status === 404) return 'there is nothing at this address: check the base URL';
  return 'Langfuse could not answer';
}

/** A client of Langfuse's public API: only what an import reads. */
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
      if (attempt === ATTEMPTS || answer.retryInMs === undefined) throw new ImportError(`${url}: ${answer.problem}`);
      await sleep(Math.min(answer.retryInMs || 250 * 2 ** attempt, MAX_WAIT_MS));
    }
  }

  async #once(url: string): Promise<{ json: Json } | { problem: string; retryInMs: number | undefined }> {
    let response: Response;
    let text: string;
    try {
      // A redirect could take the keys elsewhere.
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
      if (!isObject(json)) throw new ImportError(`${url}: answers with something that is no object`);
      return { json };
    }
    const waitS = Number(response.headers.get('Retry-After') ?? 0);
    const retryInMs = RETRIED.has(response.status) ? (Number.isFinite(waitS) ? waitS * 1000 : 0) : undefined;
    return { problem: `HTTP ${response.status}: ${explain(response.status)}`, retryInMs };
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
}

/**
 * Reads a project's prompts, all versions of them with their references unresolved, and its datasets, whose items are fetched
 * when they are needed.
 * @throws ImportError saying what can't be reached or read
 */
export async function fetchLangfuse(access: LangfuseAccess): Promise<LangfuseContents> {
  if (!/^https?:\/\//.test(access.baseUrl) || URL.parse(access.baseUrl) === null)
    throw new ImportError(`${access.baseUrl}: is no base URL such as https://cloud.langfuse.com`);
  const api = new LangfuseApi(access);
  const contents: LangfuseContents = { prompts: [], datasets: [], listed: [] };
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
  return contents;
}
