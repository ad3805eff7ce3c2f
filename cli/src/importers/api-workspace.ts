import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isObject, type Json, listOf, textOf } from '../json.ts';
import { pathInside } from '../named-path.ts';
import type { Example, ScheduleDefinition, WebhookDefinition } from './model.ts';
import {
  type DatasetRecord,
  type Destination,
  type PromptRecord,
  type QueueRecord,
  RefusedError,
  type ScoreDefinitionRecord,
} from './workspace.ts';

/** The connection to the service. Each method rejects with `RefusedError` if the service rejects one item (400, 404). */
export interface Transport {
  /**
   * @param target path under `/v1`, with its query
   * @returns the parsed body
   */
  request(method: string, target: string, body?: unknown): Promise<unknown>;
  /** The bytes of a response that is not JSON. */
  download(target: string): Promise<AsyncIterable<Uint8Array>>;
  upload(target: string, contentType: string, body: AsyncIterable<Uint8Array>): Promise<unknown>;
}

const PAGE_SIZE = 1000;

/** The path for a name, which can contain slashes. */
function pathOf(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/');
}

/** Lists API records. The service guarantees their shape, so it is not validated again. */
async function* listAll<RecordType>(transport: Transport, target: string): AsyncGenerator<RecordType, void, undefined> {
  let cursor: string | undefined;
  do {
    const joint = target.includes('?') ? '&' : '?';
    const next = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await transport.request('GET', `${target}${joint}limit=${PAGE_SIZE}${next}`);
    const { data, next_cursor } = isObject(page) ? page : {};
    yield* listOf(data) as RecordType[];
    cursor = textOf(next_cursor);
  } while (cursor !== undefined);
}

async function* parseLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Example, void, undefined> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const chunk of chunks) {
    const lines = (begun + decoder.decode(chunk, { stream: true })).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line);
  }
  if (begun !== '') yield JSON.parse(begun);
}

function schedule({ name, cron, time_zone, paused, evaluation }: ScheduleDefinition): ScheduleDefinition {
  return { name, cron, time_zone, paused, evaluation };
}

function webhook({
  url,
  events,
  description,
  rate_limit_per_minute,
  status,
  header_names,
}: WebhookDefinition): WebhookDefinition {
  return { url, events, description, rate_limit_per_minute, status, header_names };
}

/**
 * A workspace behind the service's API.
 * @param evaluationsFolder for evaluations of an import, each as the body of `POST /v1/evaluations`
 */
export function apiWorkspace(transport: Transport, evaluationsFolder: string): Destination {
  const send = async (method: string, target: string, body?: Json): Promise<Json> => {
    const answer = await transport.request(method, target, body);
    return isObject(answer) ? answer : {};
  };
  const evaluationFile = (name: string) => pathInside(evaluationsFolder, `${name}.json`);
  return {
    prompts: () => listAll<PromptRecord>(transport, '/prompts?archived=all'),
    versions: (name) => listAll<PromptRecord>(transport, `/prompts/${pathOf(name)}/versions`),
    datasets: () => listAll<DatasetRecord>(transport, '/datasets'),
    async *examples(name) {
      yield* parseLines(await transport.download(`/datasets/${pathOf(name)}/export?format=jsonl`));
    },
    async *schedules() {
      for await (const record of listAll<ScheduleDefinition>(transport, '/schedules')) yield schedule(record);
    },
    async *webhooks() {
      for await (const record of listAll<WebhookDefinition>(transport, '/webhooks')) yield webhook(record);
    },
    async *protectedLabels() {
      try {
        for await (const record of listAll<{ label: string; protected: boolean }>(transport, '/labels'))
          if (record.protected) yield record.label;
      } catch (error) {
        // An older service without protected labels.
        if (!(error instanceof RefusedError)) throw error;
      }
    },
    scoreDefinitions: () => listAll<ScoreDefinitionRecord>(transport, '/score-definitions'),
    queues: () => listAll<QueueRecord>(transport, '/queues'),
    async setScoreDefinition(name, definition) {
      await send('PUT', `/score-definitions/${pathOf(name)}`, definition);
    },
    async createQueue(name, queue) {
      await send('PUT', `/queues/${pathOf(name)}`, queue);
    },
    async recordRuns(records) {
      const { ids } = await send('POST', '/executions/record', { records });
      return listOf(ids).map(String);
    },
    async storeScores(scores) {
      await send('POST', '/scores', { scores });
    },
    async addToQueue(name, execution_ids) {
      await send('POST', `/queues/${pathOf(name)}/items`, { execution_ids });
    },
    async createVersion(version) {
      await send('POST', '/prompts', version);
    },
    async setLabel(name, label, version) {
      await send('PUT', `/prompts/${pathOf(name)}/labels/${encodeURIComponent(label)}`, { version });
    },
    async archive(name) {
      await send('DELETE', `/prompts/${pathOf(name)}`);
    },
    async restore(name) {
      await send('POST', `/prompts/${pathOf(name)}/restore`);
    },
    async uploadDataset(name, description, lines) {
      const query = description === undefined ? '' : `?description=${encodeURIComponent(description)}`;
      const made = await transport.upload(`/datasets/${pathOf(name)}${query}`, 'application/x-ndjson', lines);
      return Number(isObject(made) ? made['version'] : undefined);
    },
    async createSchedule(definition) {
      await send('POST', '/schedules', { ...definition });
    },
    async createWebhook({ url, events, description, rate_limit_per_minute }) {
      const { secret } = await send('POST', '/webhooks', { url, events, description, rate_limit_per_minute });
      return { secret: textOf(secret) ?? '' };
    },
    async protectLabel(label) {
      await send('PUT', `/labels/${encodeURIComponent(label)}`, { protected: true });
    },
    async savedEvaluation(name) {
      try {
        return JSON.parse(await readFile(evaluationFile(name), 'utf8'));
      } catch {
        // Missing, or not written by an import: it is written again.
        return undefined;
      }
    },
    async saveEvaluation({ name, definition }) {
      const file = evaluationFile(name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, `${JSON.stringify(definition, null, 2)}\n`);
    },
  };
}
