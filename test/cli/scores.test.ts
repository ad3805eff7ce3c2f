import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../src/domain/ids.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
const ids: string[] = [];
beforeAll(async () => {
  service = await startTestService();
  cli = await startCli(service);
  await service.call('POST', '/prompts', {
    body: { name: 'cli/answer', template: 'Answer {{ question }}', model: 'sandbox/echo' },
  });
  for (const question of ['a', 'b', 'c']) {
    const body = { prompt_name: 'cli/answer', variables: { question } };
    ids.push((await service.call('POST', '/executions', { body })).body.id);
  }
});
afterAll(async () => {
  await cli?.remove();
  await service?.stop();
});

/** Runs `pms`, which must succeed. */
async function pms(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await cli.pms(args);
  expect([args, status, stderr]).toEqual([args, 0, '']);
  return stdout;
}
const json = async (...args: string[]) => JSON.parse(await pms(...args, '--json'));
const [first, second] = [() => ids[0] ?? '', () => ids[1] ?? ''];

const write = async (name: string, content: string) => {
  await writeFile(path.join(cli.folder, name), content);
  return name;
};

test('scores are stored with the type of the value or the one given, listed, summed up and deleted', async () => {
  const id = `score_${newId()}`;
  expect(
    await json('scores', 'create', 'helpful', 'true', '--execution', first(), '--person', '--id', id),
  ).toMatchObject({
    id,
    name: 'helpful',
    value: true,
    data_type: 'boolean',
    source: 'person',
    subject: { execution_id: first() },
  });
  await pms('scores', 'create', 'helpful', 'false', '--execution', second(), '--comment', 'too\nlong');
  expect(await json('scores', 'create', 'tone', '-0.5', '--execution', first())).toMatchObject({
    value: -0.5,
    data_type: 'numeric',
  });
  expect(await json('scores', 'create', 'grade', '1', '--execution', first(), '--type', 'categorical')).toMatchObject({
    value: '1',
    data_type: 'categorical',
  });

  expect((await json('scores', 'list', '--execution', first())).map(({ name }: { name: string }) => name)).toEqual([
    'grade',
    'tone',
    'helpful',
  ]);
  expect(await json('scores', 'list', '--limit', '2')).toHaveLength(2);
  const text = await pms('scores', 'list', '--name', 'helpful', '--source', 'api');
  expect(text.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^score_\S+ {2}helpful {2}false {2}api .*too long$/),
  ]);

  expect(await pms('scores', 'summary', '--name', 'helpful')).toMatch(/helpful\s+cli\/answer\s+1\s+2\s+50 % true/);
  expect((await json('scores', 'summary', '--prompt', 'cli/answer', '--group-by', 'version')).data).toHaveLength(3);

  expect(await pms('scores', 'delete', id)).toBe(`Deleted ${id}\n`);
  expect(await json('scores', 'list', '--name', 'helpful')).toHaveLength(1);
});

test('queues are listed and shown, and executions are added by id and by filter, once each', async () => {
  await service.call('PUT', '/queues/cli/review', { body: { score_names: ['helpful'], description: 'Is it right?' } });
  expect(await pms('queues', 'add', 'cli/review', first())).toBe('1 added, 0 already in the queue\n');
  expect(await json('queues', 'add', 'cli/review', '--prompt', 'cli/answer', '--limit', '10')).toEqual({
    added: 2,
    present: 1,
  });
  expect(await json('queues', 'show', 'cli/review', '--state', 'pending')).toMatchObject({
    name: 'cli/review',
    progress: { pending: 3 },
    items: [expect.anything(), expect.anything(), expect.anything()],
  });
  const shown = await pms('queues', 'show', 'cli/review', '--items', '1');
  expect(shown).toContain('cli/review: Is it right?\nscores: helpful');
  expect(shown.match(/^item_\S+ {2}pending {2}exec_/gm)).toHaveLength(1);
  expect(await pms('queues', 'list')).toMatch(/cli\/review\s+helpful\s+3\s+0\s+0\s+0/);
});

test('a rule is read from a file and written to one, and past executions are scored', async () => {
  const rule = await write(
    'rule.yaml',
    'name: cli/json\nprompt_name: cli/answer\nsample_rate: 0\nevaluators:\n  - { type: json_valid, name: is-json }\n',
  );
  expect(await pms('rules', 'set', rule)).toBe('cli/json is set\n');
  const got = await pms('rules', 'get', 'cli/json');
  expect(got).toMatch(/^name: cli\/json\nprompt_name: cli\/answer\n/);
  expect(got).toContain('# scored 0, failed 0');
  const before = await json('rules', 'get', 'cli/json');
  expect(await json('rules', 'set', await write('again.yaml', got))).toMatchObject({
    name: before.name,
    evaluators: before.evaluators,
    sample_rate: 0,
  });

  await pms('rules', 'set', await write('all.json', JSON.stringify({ ...(await readRule()), sample_rate: 1 })));
  const done = await pms(
    'rules',
    'backfill',
    'cli/json',
    '--since',
    '2020-01-01T00:00:00Z',
    '--max-cost',
    '1',
    '--wait',
  );
  expect(done).toMatch(/: completed, 100 %, found 3, scored 3, failed 0, spent \$/);
  expect(await json('scores', 'list', '--rule', 'cli/json')).toHaveLength(3);
  expect(await pms('rules', 'list')).toMatch(/cli\/json\s+enabled\s+cli\/answer\s+1/);
  expect(await pms('rules', 'delete', 'cli/json')).toBe('Deleted cli/json\n');
  expect(await json('rules', 'list')).toEqual([]);

  async function readRule() {
    const { parse } = await import('yaml');
    return parse(await readFile(path.join(cli.folder, 'rule.yaml'), 'utf8'));
  }
});

test('a monitor is read from a file and written to one', async () => {
  const file = await write(
    'monitor.yaml',
    'name: cli/errors\nprompt_name: cli/answer\nwindow: 15m\nchecks: [{ metric: error_rate, above: 0.1 }]\n',
  );
  expect(await pms('monitors', 'set', file)).toBe('cli/errors is set\n');
  const got = await pms('monitors', 'get', 'cli/errors');
  expect(got).toContain('# no_data since ');
  const before = await json('monitors', 'get', 'cli/errors');
  const again = await json('monitors', 'set', await write('monitor-again.yaml', got));
  expect([again.checks, again.window, again.notify]).toEqual([before.checks, before.window, before.notify]);
  expect(await pms('monitors', 'list')).toMatch(/cli\/errors\s+no_data\s+\S+\s+cli\/answer/);
  await pms('monitors', 'delete', 'cli/errors');
  expect(await json('monitors', 'list')).toEqual([]);
});

test('errors are status 2, and named', async () => {
  await write('nameless.yaml', 'window: 15m\n');
  await write('list.yaml', '- 1\n');
  await write('bad.yaml', 'name: cli/bad\nevaluators: []\n');
  for (const [args, message] of [
    [['scores', 'create', 'helpful', 'true'], '--execution ID'],
    [['scores', 'create', 'helpful', 'yes', '--execution', first(), '--type', 'boolean'], 'true or false'],
    [['scores', 'create', 'helpful', '0.5', '--execution', first()], 'boolean'],
    [['scores', 'create', 'helpful', 'true', '--execution', 'exec_x'], 'exec'],
    [['scores', 'delete', `score_${newId()}`], 'score'],
    [['scores', 'summary', '--group-by', 'week'], 'group_by'],
    [['queues', 'show', 'none'], 'none'],
    [['queues', 'add', 'cli/review'], 'a filter'],
    [['queues', 'add', 'cli/review', first(), '--limit', '1'], 'not both'],
    [['rules', 'set', 'nameless.yaml'], 'name is required'],
    [['rules', 'set', 'bad.yaml'], 'evaluators'],
    [['monitors', 'set', 'list.yaml'], 'must be an object'],
    [['monitors', 'set', 'missing.yaml'], 'missing.yaml'],
    [['rules', 'backfill', 'none', '--since', '2020-01-01T00:00:00Z'], 'does not exist'],
  ] as const) {
    const { status, stderr } = await cli.pms([...args]);
    expect([args, status, stderr]).toEqual([args, 2, expect.stringContaining(message)]);
  }
});
