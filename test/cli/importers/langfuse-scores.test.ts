import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { type Cli, startCli } from '../support.ts';

const HOUR = 60 * 60_000;
const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * HOUR).toISOString();

const CONFIGS = [
  { id: 'cfg-old', name: 'correct', dataType: 'NUMERIC', isArchived: true, minValue: 0, maxValue: 10 },
  { id: 'cfg-1', name: 'correct', dataType: 'BOOLEAN', isArchived: false, description: 'Is it right?' },
  {
    id: 'cfg-2',
    name: 'tone of voice',
    dataType: 'CATEGORICAL',
    categories: [
      { label: 'kind', value: 1 },
      { label: 'cold', value: 0 },
    ],
  },
  { id: 'cfg-3', name: 'quality', dataType: 'NUMERIC', minValue: 0, maxValue: 1 },
];

const generation = (id: string, traceId: string, more: object = {}) => ({
  id,
  traceId,
  type: 'GENERATION',
  name: 'answer',
  startTime: at(2),
  endTime: at(1.9),
  providedModelName: 'gpt-4o-mini',
  level: 'DEFAULT',
  input: JSON.stringify([{ role: 'user', content: 'Where is my parcel?' }]),
  output: JSON.stringify({ role: 'assistant', content: 'On its way.' }),
  usageDetails: { input: 12, output: 9, total: 21 },
  totalCost: 0.002,
  ...more,
});
const OBSERVATIONS = [
  generation('obs-1', 'trace-1', { promptName: 'support/answer', promptVersion: 4 }),
  generation('obs-2a', 'trace-2', { startTime: at(3) }),
  generation('obs-2b', 'trace-2', { providedModelName: 'llama-local', input: '"plain"', output: '"text"' }),
  { id: 'span-2', traceId: 'trace-2', type: 'SPAN', startTime: at(3) },
  generation('obs-old', 'trace-old', { startTime: at(24 * 500), endTime: at(24 * 500) }),
  generation('obs-long', 'trace-long', { startTime: at(24 * 20) }),
  generation('obs-alone', 'trace-alone', { level: 'ERROR', statusMessage: 'overloaded', output: null }),
];

/** A score from v3 with its subject and details, or from v2. */
const score = (id: string, name: string, dataType: string, value: unknown, subject: object, more: object = {}) => ({
  id,
  projectId: 'p',
  name,
  dataType,
  value,
  subject,
  source: 'API',
  timestamp: at(1),
  environment: 'default',
  createdAt: at(1),
  updatedAt: at(1),
  comment: null,
  metadata: {},
  ...more,
});
const OF_1 = { kind: 'observation', id: 'obs-1', traceId: 'trace-1' };
const SCORES = [
  score('s1', 'correct', 'BOOLEAN', true, OF_1, { source: 'ANNOTATION', comment: 'right', metadata: { ticket: '7' } }),
  score('s2', 'quality', 'NUMERIC', 0.5, OF_1, { source: 'EVAL' }),
  score('s3', 'tone of voice', 'CATEGORICAL', 'kind', { kind: 'trace', id: 'trace-2' }),
  score('s4', 'note', 'TEXT', 'It took long.', { kind: 'trace', id: 'trace-2' }),
  score('s5', 'quality', 'NUMERIC', 7, { kind: 'trace', id: 'trace-2' }),
  score('s6', 'quality', 'NUMERIC', 0.1, { kind: 'session', id: 'session-1' }),
  score('s7', 'quality', 'NUMERIC', 0.1, { kind: 'trace', id: 'trace-old' }),
  score('s9', 'note', 'TEXT', 'Why?', { kind: 'observation', id: 'span-2' }),
  score('s10', 'quality', 'NUMERIC', 0.9, { kind: 'observation', id: 'obs-long' }),
  score('s8', 'output', 'CORRECTION', 'On Friday.', OF_1),
];
const V2_SCORES = [
  {
    id: 's1',
    projectId: 'p',
    name: 'correct',
    dataType: 'BOOLEAN',
    value: 1,
    stringValue: 'True',
    traceId: 'trace-1',
    observationId: 'obs-1',
    source: 'ANNOTATION',
    timestamp: at(1),
  },
  {
    id: 's3',
    projectId: 'p',
    name: 'tone of voice',
    dataType: 'CATEGORICAL',
    value: 1,
    stringValue: 'kind',
    traceId: 'trace-2',
    source: 'API',
    timestamp: at(1),
  },
];
const QUEUES = [
  { id: 'q1', name: 'to review', description: 'Is it right?', scoreConfigIds: ['cfg-1', 'cfg-2'] },
  { id: 'q2', name: 'empty', description: null, scoreConfigIds: ['gone'] },
];
const ITEMS = [
  { id: 'i1', queueId: 'q1', objectId: 'trace-2', objectType: 'TRACE', status: 'PENDING' },
  { id: 'i2', queueId: 'q1', objectId: 'obs-alone', objectType: 'OBSERVATION', status: 'PENDING' },
  { id: 'i3', queueId: 'q1', objectId: 'missing', objectType: 'OBSERVATION', status: 'PENDING' },
  { id: 'i4', queueId: 'q1', objectId: 'session-1', objectType: 'SESSION', status: 'PENDING' },
];
const PROMPTS = [3, 4].map((version) => ({
  name: 'support/answer',
  version,
  type: 'text',
  prompt: `Answer ${version}`,
  config: { model: 'gpt-4o-mini' },
  labels: [],
  tags: [],
}));

let service: TestService;
let cli: Cli;
let langfuse: { baseUrl: string; asked: string[]; stop(): void };
/** Whether it has the API of Langfuse 4. */
let isNew = true;

/** Langfuse's public API: pages by number or by cursor, of two items each. */
async function startLangfuse() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://langfuse');
    asked.push(`${url.pathname}${url.search}`);
    const send = (body: unknown) => {
      response.statusCode = body === undefined ? 404 : 200;
      response.end(JSON.stringify(body ?? { message: 'Not found' }));
    };
    const query = (name: string) => url.searchParams.get(name) ?? undefined;
    const numbered = (items: unknown[]) => {
      const page = Number(query('page'));
      const meta = { page, limit: 2, totalItems: items.length, totalPages: Math.ceil(items.length / 2) };
      return { data: items.slice((page - 1) * 2, page * 2), meta };
    };
    const byCursor = (items: unknown[]) => {
      const from = Number(query('cursor') ?? 0);
      const rest = from + 2 < items.length ? { cursor: String(from + 2) } : {};
      return { data: items.slice(from, from + 2), meta: { limit: 2, ...rest } };
    };
    const target = url.pathname.replace('/api/public/', '');
    const ofTrace = OBSERVATIONS.filter(({ traceId }) => traceId === query('traceId'));
    if (target === 'v2/prompts') return send(numbered([{ name: 'support/answer', versions: [3, 4] }]));
    if (target.startsWith('v2/prompts/'))
      return send(PROMPTS.find(({ version }) => version === Number(query('version'))));
    if (target === 'v2/datasets') return send(numbered([]));
    if (target === 'score-configs') return send(numbered(CONFIGS));
    if (target === 'annotation-queues') return send(numbered(QUEUES));
    if (/^annotation-queues\/.*\/items$/.test(target))
      return send(numbered(ITEMS.filter(({ queueId }) => target.includes(`/${queueId}/`))));
    if (isNew && target === 'v3/scores') {
      const hasGroups = query('fields')?.split(',').sort().join() === 'details,subject';
      return send(hasGroups ? byCursor(SCORES) : undefined);
    }
    if (isNew && target === 'v2/observations') {
      const { value } = JSON.parse(query('filter') ?? '[{}]')[0];
      return send(byCursor(value === undefined ? ofTrace : OBSERVATIONS.filter(({ id }) => id === value)));
    }
    if (!isNew && target === 'v2/scores') return send(numbered(V2_SCORES));
    if (!isNew && target === 'observations') return send(numbered(ofTrace));
    if (!isNew && target.startsWith('observations/'))
      return send(OBSERVATIONS.find(({ id }) => id === target.slice('observations/'.length)));
    return send(undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { baseUrl, asked, stop };
}

beforeAll(async () => {
  [service, langfuse] = await Promise.all([startTestService(), startLangfuse()]);
});
afterAll(async () => {
  langfuse?.stop();
  await service?.stop();
});
beforeEach(() => {
  isNew = true;
});

const keys = { LANGFUSE_PUBLIC_KEY: 'pk-lf-1', LANGFUSE_SECRET_KEY: 'sk-lf-1' };
const importFrom = (place: string, ...args: string[]) => cli.pms(['import', 'langfuse', place, ...args], { env: keys });
const get = async (target: string) => (await service.call('GET', target)).body;

test('scores, configs, queues and their subjects come from the API, once', async () => {
  cli = await startCli(service);
  const dry = await importFrom(langfuse.baseUrl, '--dry-run');
  expect([dry.status, dry.stderr]).toEqual([0, '']);
  const lines = dry.stdout.trimEnd().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'score definition correct: taken unchanged',
      'score definition correct: left out: another one has this name',
      'score definition tone of voice: taken with a change: the numbers of its categories are left out; it is called "tone-of-voice"',
      'executions of scores and queues: taken with a change: the provider of its model is unknown and recorded as "other" (obs-2b)',
      'scores correct: taken unchanged',
      'scores quality: taken with a change: the last generation represents a trace with several (trace-2); ' +
        'left out: it is about a session, not an execution (s6); left out: its observation is more than a year old (s7)',
      'scores note: taken with a change: the last generation represents a trace with several (trace-2); ' +
        'left out: its observation names no model: set one for such observations with --model (s9)',
      'scores output: taken with a change: left out: a score of the type CORRECTION (s8)',
      'queue to review: taken with a change: it is called "to-review"; ' +
        'the last generation represents a trace with several (trace-2); ' +
        'left out: an item: its observation is not there (i3); left out: an item: it is about a session, not an execution (i4)',
      'queue empty: left out: all of its score configs are missing',
      'would make executions: 4 recorded',
      'would make scores: 6 stored',
      'would make queue to-review: created',
      'would make queue to-review: 2 items',
    ]),
  );
  expect((await get('/executions')).data).toEqual([]);

  const made = await importFrom(langfuse.baseUrl);
  // One run exceeds the maximum duration, and one score does not match its definition.
  expect(made.stderr).toMatch(/executions: 4 recorded: 1 of 4 were refused, the others were created: .*finished_at/);
  expect([made.status, made.stderr]).toEqual([
    1,
    expect.stringMatching(/scores: 6 stored: 2 of 6 were refused.*at most 1/),
  ]);

  const executions = (await get('/executions?recorded=true')).data;
  expect(executions).toHaveLength(3);
  const first = executions.find(({ prompt_name }: { prompt_name: string | null }) => prompt_name === 'support/answer');
  expect(await get(`/executions/${first.id}`)).toMatchObject({
    prompt_version: 2,
    model: 'openai/gpt-4o-mini',
    input: [{ role: 'user', content: 'Where is my parcel?' }],
    output: 'On its way.',
    tokens: { input: 12, output: 9 },
    cost: { amount: '0.002' },
    metadata: { langfuse_observation_id: 'obs-1', langfuse_trace_id: 'trace-1' },
    recorded: true,
  });
  expect(executions.map(({ model, status }: { model: string; status: string }) => [model, status])).toEqual(
    expect.arrayContaining([
      ['other/llama-local', 'completed'],
      ['openai/gpt-4o-mini', 'failed'],
    ]),
  );
  const scores = (await get('/scores')).data;
  const said = (name: string) => scores.find((one: { name: string }) => one.name === name);
  expect(scores).toHaveLength(4);
  expect(said('correct')).toMatchObject({
    value: true,
    source: 'person',
    comment: 'right',
    subject: { execution_id: first.id },
    metadata: { ticket: '7', langfuse_id: 's1', langfuse_timestamp: expect.any(String) },
  });
  expect(said('quality')).toMatchObject({
    value: 0.5,
    source: 'evaluator',
    evaluator: { rule: 'langfuse', version: 'imported', model: null },
  });
  expect(said('tone-of-voice')).toMatchObject({ value: 'kind', data_type: 'categorical', source: 'api' });
  expect(said('note')).toMatchObject({ value: 'It took long.', data_type: 'text' });
  expect(await get('/score-definitions/quality')).toMatchObject({
    data_type: 'numeric',
    min: 0,
    max: 1,
    defined: true,
  });
  expect(await get('/score-definitions/correct')).toMatchObject({ data_type: 'boolean', description: 'Is it right?' });
  expect(await get('/queues/to-review')).toMatchObject({
    score_names: ['correct', 'tone-of-voice'],
    description: 'Is it right?',
    progress: { pending: 2 },
  });

  const again = await importFrom(langfuse.baseUrl);
  expect(again.status).toBe(1);
  expect((await get('/executions?recorded=true')).data).toHaveLength(3);
  const kept = (await get('/scores')).data;
  const undated = (list: object[]) => list.map((one) => ({ ...one, updated_at: null }));
  expect(undated(kept)).toEqual(undated(scores));
  expect(await get('/queues/to-review')).toMatchObject({ progress: { pending: 2 } });
});

test('an older Langfuse is read by the older API', async () => {
  isNew = false;
  langfuse.asked.length = 0;
  const { status, stdout, stderr } = await importFrom(langfuse.baseUrl, '--dry-run');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('would make scores: 2 stored');
  expect(stdout).toContain('would make executions: 3 recorded');
  expect(langfuse.asked.filter((target) => target.includes('v2/observations'))).toHaveLength(1);
});

test('saved answers of the API are read alike', async () => {
  const folder = path.join(cli.folder, 'saved');
  await mkdir(folder);
  const files = { configs: CONFIGS, scores: SCORES, queues: QUEUES, items: ITEMS, observations: OBSERVATIONS };
  for (const [name, data] of Object.entries(files))
    await writeFile(path.join(folder, `${name}.json`), JSON.stringify({ data, meta: {} }));
  const { status, stdout, stderr } = await importFrom(folder, '--dry-run');
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('would make executions: 4 recorded');
  expect(stdout).toContain('would make scores: 6 stored');
  expect(stdout).toContain('would make queue to-review: 2 items');
  // A version that is not imported with it has no number.
  expect(stdout).toContain('its prompt version is left empty because it is not imported (obs-1)');
  await cli.remove();
});
