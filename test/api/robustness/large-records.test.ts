import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { resultsAsCsv } from '../../../src/api/evaluations/results-csv.ts';
import { UUID_V7 } from '../../../src/db/uuid-v7.ts';
import { newId, publicId } from '../../../src/domain/ids.ts';
import type { ResultRow } from '../../../src/services/evaluations/results/results.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const MIB = 1024 * 1024;
const COUNT = 12;
const FEW = 8;
/** A page of 4 MiB, plus JSON overhead. */
const MAX_BODY = 5 * MIB;

let service: TestService;
let workspaceId: string;
const evaluationId = newId();
const examplesId = newId();
const query = (text: string, values: unknown[] = []) => service.dependencies.db.system.query({ text }, values);

beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  ({ workspaceId } = service);
  // They compress well: the size in memory matters, not that on disk.
  await query(
    `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables,
       input, metadata, output, created_at)
     select $1, ${UUID_V7}, 'completed', 'large', 1, 'sandbox/echo', 'sandbox', '{}', '{}', '', '{}', repeat('x', ${MIB}), now()
     from generate_series(1, ${COUNT})`,
    [workspaceId],
  );
  const rubric = JSON.stringify([{ type: 'contains', name: 'contains', weight: 1, value: 'x'.repeat(MIB) }]);
  const evaluation = `insert into evaluations (workspace_id, id, prompt_name, prompt_version, content, model, provider, parameters,
    examples_hash, examples_total, evaluators, threshold, baseline_mode, concurrency, metadata, status, created_at)`;
  await query(
    `${evaluation} values ($1, $2, 'large', 1, '{}', 'sandbox/echo', 'sandbox', '{}', '', ${FEW}, '[]', 0.8, 'none', 1, '{}',
       'completed', now())`,
    [workspaceId, evaluationId],
  );
  await query(
    `${evaluation} select $1, ${UUID_V7}, 'rubrics', 1, '{}', 'sandbox/echo', 'sandbox', '{}', '', 0, $2::jsonb, 0.8, 'none', 1, '{}',
       'completed', now() from generate_series(1, ${FEW})`,
    [workspaceId, rubric],
  );
  await query(
    `insert into evaluation_results (evaluation_id, seq, example_key, variables, status, output, scores, score, created_at)
     select $1, seq, 'example ' || seq, jsonb_build_object('text', repeat('v', ${MIB / 2})), 'scored', repeat('o', ${MIB / 2}), '{}', 1,
       now() from generate_series(0, ${FEW - 1}) as seq`,
    [evaluationId],
  );
  await query(
    `with dataset as (
       insert into datasets (workspace_id, id, name, latest_version, created_at, updated_at)
       values ($1, $2, 'large', 1, now(), now()) returning id
     ), version as (
       insert into dataset_versions (workspace_id, id, dataset_id, version, examples_total, hash, created_at)
       select $1, $2, id, 1, ${FEW}, '', now() from dataset
     ) insert into dataset_examples (workspace_id, dataset_version_id, seq, example_key, variables)
       select $1, $2, seq, 'example ' || seq, jsonb_build_object('text', repeat('v', ${MIB} - 100)) from generate_series(0, ${FEW - 1}) as seq`,
    [workspaceId, examplesId],
  );
});
afterAll(() => service?.stop());

/** Follows the cursors of a list to its end. */
async function readAll(path: string): Promise<{ pages: number; largest: number; ids: unknown[] }> {
  const ids: unknown[] = [];
  let [pages, largest] = [0, 0];
  for (let cursor: string | null = ''; cursor !== null; pages += 1) {
    const url = `${service.origin}/v1${path}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const response = await fetch(url, { headers: { Authorization: `Bearer ${service.key}` } });
    expect(response.status).toBe(200);
    const text = await response.text();
    largest = Math.max(largest, Buffer.byteLength(text));
    const { data, next_cursor: next }: { data: Record<string, unknown>[]; next_cursor: string | null } =
      JSON.parse(text);
    ids.push(...data.map((record) => record['seq'] ?? record['version'] ?? record['id']));
    cursor = next;
  }
  return { pages, largest, ids };
}

describe('a list of large records', () => {
  test.each([
    ['executions', '/executions?prompt_name=large', COUNT],
    ['evaluations', '/evaluations?prompt_name=rubrics', FEW],
    ['results', `/evaluations/${publicId('evaluation', evaluationId)}/results?failed=false`, FEW],
    ['examples', '/datasets/large/examples?version=1', FEW],
  ])('of %s gives pages of a few MiB, with each record once', async (_, path, count) => {
    const { pages, largest, ids } = await readAll(`${path}&limit=1000`);
    expect(largest).toBeLessThan(MAX_BODY);
    expect(pages).toBeGreaterThanOrEqual(count / 4);
    expect(ids).toHaveLength(count);
    expect(new Set(ids).size).toBe(count);
  });

  test('of versions of a prompt gives pages of a few MiB, with each once', async () => {
    await query(
      `with prompt as (
         insert into prompts (workspace_id, id, name, latest_version, created_at, updated_at)
         values ($1, gen_random_uuid(), 'large', 20, now(), now()) returning id
       ) insert into prompt_versions (workspace_id, id, prompt_id, version, template, bytes, model, parameters, variables, created_at)
         select $1, gen_random_uuid(), id, version, repeat('t', ${250 * 1024}), ${250 * 1024}, 'sandbox/echo', '{}', '{}', now()
         from prompt, generate_series(1, 20) as version`,
      [workspaceId],
    );
    const { pages, largest, ids } = await readAll('/prompts/large/versions?limit=1000');
    expect(largest).toBeLessThan(MAX_BODY);
    expect(pages).toBeGreaterThan(1);
    expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
  });

  test('gives a record larger than a page its own page', async () => {
    await query(
      `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables,
         input, metadata, output, created_at)
       select $1, ${UUID_V7}, 'completed', 'huge', 1, 'sandbox/echo', 'sandbox', '{}', '{}', '', '{}',
         repeat('x', size), now() from unnest(array[${6 * MIB}, 10, 10]) as size`,
      [workspaceId],
    );
    const { ids, largest } = await readAll('/executions?prompt_name=huge&limit=2');
    expect(new Set(ids).size).toBe(3);
    expect(largest).toBeLessThan(7 * MIB);
  });

  test('ends at its limit if records are small, and has no cursor at its end', async () => {
    const page = await service.call('GET', '/executions?prompt_name=huge&limit=1');
    expect(page.body.data).toHaveLength(1);
    expect(page.body.next_cursor).not.toBeNull();
    const none = await service.call('GET', '/executions?prompt_name=unknown');
    expect(none.body).toEqual({ data: [], next_cursor: null });
  });
});

describe('an export of large records', () => {
  test('of results as CSV has all of them', async () => {
    const path = `/evaluations/${publicId('evaluation', evaluationId)}/results?format=csv`;
    const { body } = await service.call('GET', path);
    const rows = parse(body, { columns: true }) as Record<string, string>[];
    expect(rows.map((row) => row['example_id'])).toEqual(Array.from({ length: FEW }, (_, seq) => `example ${seq}`));
    expect(rows.every((row) => row['output']?.length === MIB / 2)).toBe(true);
  });

  test('reads no more pages than are taken', async () => {
    let read = 0;
    async function* pages(): AsyncGenerator<ResultRow[]> {
      for (; read < 100; read++) yield [row];
    }
    const stream = resultsAsCsv(pages(), []);
    const chunks = stream[Symbol.asyncIterator]();
    await chunks.next();
    await chunks.next();
    for (let turns = 0; turns < 100; turns++) await turn();
    expect(read).toBeLessThan(5);
    stream.destroy();
  });
});

const row: ResultRow = {
  tokens_unknown: 0,
  notes: null,
  seq: 0,
  example_key: 'one',
  status: 'scored',
  variables: '{}',
  expected: null,
  output: 'o'.repeat(MIB),
  tool_calls: null,
  model: null,
  reused_from: null,
  finish_reason: 'stop',
  scores: {},
  score: 1,
  baseline_score: null,
  regression: null,
  improvement: null,
  error: null,
  attempts: 1,
  tokens_input: 1,
  tokens_output: 1,
  tokens_cached_input: 0,
  tokens_reasoning: 0,
  cost_amount: null,
  model_ms: 1,
};
