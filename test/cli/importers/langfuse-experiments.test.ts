import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { readLangfuseApi } from '../../../cli/src/importers/import-source.ts';
import { formatReportLine } from '../../../cli/src/importers/report.ts';
import { importSettings } from '../../../cli/src/importers/settings.ts';
import { examplesOf, planFiles, withFolder } from './support.ts';

const startTime = new Date(Date.now() - 60_000).toISOString();
const score = (id: string, subject: object) => ({
  id,
  projectId: 'p',
  name: 'right',
  dataType: 'NUMERIC',
  value: 1,
  source: 'API',
  timestamp: startTime,
  environment: 'default',
  subject,
});
const EXPERIMENTS = [
  {
    id: 'x1',
    name: 'local run',
    startTime,
    endTime: startTime,
    itemCount: 1,
    datasetId: null,
    scores: [score('s0', { kind: 'experiment', id: 'x1' })],
  },
  { id: 'x2', name: 'of a dataset', startTime, endTime: startTime, itemCount: 1, datasetId: 'd1' },
];
const item = (id: string, experimentId: string, more: object) => ({
  id,
  traceId: `trace-${id}`,
  startTime,
  endTime: startTime,
  level: 'DEFAULT',
  environment: 'default',
  experimentId,
  experimentName: experimentId,
  experimentItemId: `item-${id}`,
  experimentDatasetId: null,
  ...more,
});
const ITEMS = [
  item('i1', 'x1', {
    input: { q: 'Why?' },
    output: 'Because.',
    expectedOutput: 'Because.',
    scores: [score('s1', { kind: 'trace', id: 'trace-i1' })],
  }),
  item('i2', 'x2', { experimentDatasetId: 'd1', scores: [score('s2', { kind: 'trace', id: 'trace-i2' })] }),
];
const GENERATION = {
  id: 'g2',
  traceId: 'trace-i2',
  type: 'GENERATION',
  startTime,
  endTime: startTime,
  providedModelName: 'gpt-4o',
  input: 'Q',
  output: 'A',
};

/** The result of both ways of reading. */
const REPORT = [
  'experiment local run: taken with a change: its items become a dataset; their scores are imported with their subjects',
  'experiment of a dataset: taken with a change: its items come from its dataset; their scores are imported with their subjects',
  'dataset local run: taken with a change: it is called "local-run"',
  'scores right: taken with a change: left out: it is about an experiment, not an execution (s0)',
  'executions of scores and queues: taken unchanged',
];

test('saved experiments become datasets, and their scores are imported', async () => {
  await withFolder(async (folder) => {
    const save = (name: string, data: unknown[]) =>
      writeFile(path.join(folder, name), JSON.stringify({ data, meta: {} }));
    await save('experiments.json', EXPERIMENTS);
    await save('items.json', ITEMS);
    await save('observations.json', [GENERATION]);
    const planned = await planFiles('langfuse', folder, 'sandbox/echo');
    expect(planned.report).toEqual(REPORT);
    expect(await examplesOf(planned, 'local-run')).toEqual([
      { id: 'item-i1', variables: { q: 'Why?' }, expected: 'Because.' },
    ]);
    const { runs, scores } = planned.imported.scoring ?? {};
    expect(runs?.map(({ id, body }) => [id, body['model'], body['output']])).toEqual([
      ['i1', 'sandbox/echo', 'Because.'],
      ['g2', 'gpt-4o', 'A'],
    ]);
    expect(scores?.map(({ run }) => run)).toEqual(['i1', 'g2']);
  });
});

test('experiments come from the API, page by page, with the scores of its version 3', async () => {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://langfuse');
    const query = (name: string) => url.searchParams.get(name);
    const target = url.pathname.replace('/api/public/', '');
    const from = Number(query('cursor') ?? 0);
    const onePage = (all: unknown[]) => ({
      data: all.slice(from, from + 1),
      meta: from + 1 < all.length ? { cursor: String(from + 1) } : {},
    });
    const answers: Record<string, () => unknown> = {
      'v2/prompts': () => ({ data: [], meta: { totalPages: 0 } }),
      'v2/datasets': () => ({ data: [], meta: { totalPages: 0 } }),
      'v3/scores': () => onePage([]),
      experiments: () => onePage(EXPERIMENTS),
      'experiment-items': () => onePage(ITEMS.filter(({ experimentId }) => experimentId === query('experimentId'))),
      'v2/observations': () => onePage(query('traceId') === 'trace-i2' ? [GENERATION] : []),
    };
    const answer = answers[target];
    response.statusCode = answer === undefined ? 404 : 200;
    response.end(JSON.stringify(answer?.() ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = importSettings('sandbox/echo');
    const imported = await readLangfuseApi({ baseUrl, publicKey: 'pk', secretKey: 'sk' }, settings);
    expect(settings.report.lines.map(formatReportLine)).toEqual(REPORT);
    expect(imported.scoring?.scores.map(({ run }) => run)).toEqual(['i1', 'g2']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('items that are missing, or have no values, are requested', async () => {
  await withFolder(async (folder) => {
    await writeFile(path.join(folder, 'a.json'), JSON.stringify([...EXPERIMENTS, item('i9', 'x9', {})]));
    const { report } = await planFiles('langfuse', folder);
    expect(report).toContain('experiment local run: left out: its items are missing: save /experiment-items too');
    expect(report).toContain(
      'experiment x9: left out: its items have no values: save them with fields=core,dataset,io,scores',
    );
  });
});
