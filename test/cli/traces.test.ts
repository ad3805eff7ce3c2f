import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  agent,
  DONE,
  modelCall,
  newSpanId,
  newTraceId,
  requestOf,
  type Span,
  send,
  settled,
  span,
} from '../api/traces/traces-support.ts';
import { claimsOf } from '../docs/claims.ts';
import { ownBlocks } from '../support/guides.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService();
  cli = await startCli(service);
});
afterAll(async () => {
  await cli?.remove();
  await service?.stop();
});

/** Runs a command that must succeed. @returns its output */
async function pms(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await cli.pms(args);
  expect([args, status, stderr]).toEqual([args, 0, '']);
  return stdout;
}
const json = async (...args: string[]) => JSON.parse(await pms(...args, '--json'));
const file = async (name: string, content: string | Buffer) => {
  await writeFile(path.join(cli.folder, name), content);
  return name;
};

/** An agent that calls a model, and a tool that fails. */
function agentRun({ name = 'invoke_agent travel', ...attributes }: Record<string, string> = {}): [id: string, Span[]] {
  const traceId = newTraceId();
  const root = newSpanId();
  return [
    traceId,
    [
      span({ traceId, id: root, name, ms: 400, attributes: agent(0, 0, { ...DONE, ...attributes }) }),
      span({ traceId, parent: root, name: 'chat', attributes: modelCall(52, 9) }),
      span({
        traceId,
        parent: root,
        name: 'look up',
        error: 'no forecast',
        at: Date.now() - 5_000,
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'get_weather' },
      }),
    ],
  ];
}

test('traces are listed by filters, and one is shown as a tree', async () => {
  const [id, spans] = agentRun({ 'user.id': 'ada', 'session.id': 'chat-17' });
  const [other, others] = agentRun({ name: 'another run' });
  await send(service.call, [...spans, ...others]);
  await settled(service, id);
  await settled(service, other);
  expect((await json('traces', 'list')).map((trace: { id: string }) => trace.id)).toEqual(
    expect.arrayContaining([id, other]),
  );
  for (const filter of [
    ['--user', 'ada'],
    ['--conversation', 'chat-17'],
    ['--name', 'invoke_agent travel'],
    ['--search', 'travel'],
  ])
    expect(await json('traces', 'list', ...filter)).toMatchObject([{ id, steps: 3, calls: 1, errors: 1 }]);
  expect(await json('traces', 'list', '--tool', 'get_weather', '--limit', '1')).toHaveLength(1);
  expect(await json('traces', 'list', '--status', 'error')).toEqual([]);
  expect(await json('traces', 'list', '--model', 'none')).toEqual([]);
  expect(await json('traces', 'list', '--arm', 'candidate')).toEqual([]);
  const release = 'rel_01a21edf-aae1-70f0-b729-e27bdb0e3c87';
  expect(await json('traces', 'list', '--release', release)).toEqual([]);
  expect(await pms('traces', 'list', '--user', 'ada')).toMatch(
    new RegExp(`^trace .*\\n${id} +ok +invoke_agent travel +3 +1 +1 +61 `),
  );
  expect((await cli.pms(['traces', 'list', '--since', 'yesterday'])).status).toBe(2);

  const text = await pms('traces', 'get', id);
  expect(text).toContain('conversation_id: chat-17');
  expect(text).toMatch(/\n[0-9a-f]{16} {2}agent {2}invoke_agent travel {2}400 ms/);
  expect(text).toMatch(/\n {2}[0-9a-f]{16} {2}tool {2}look up {2}100 ms {2}error: no forecast/);
  const { trace, steps } = await json('traces', 'get', id);
  expect([trace.id, steps.length]).toEqual([id, 3]);
  const call = steps.find(({ type }: { type: string }) => type === 'model');
  expect(await json('traces', 'get', id, '--step', call.id)).toMatchObject({ output: 'Yes.' });
  expect(await cli.pms(['traces', 'get', 'none'])).toMatchObject({ status: 2 });

  expect(await pms('traces', 'delete', other, '--yes')).toBe(`Deleted ${other}\n`);
  expect((await cli.pms(['traces', 'get', other])).status).toBe(2);
});

test('a file of spans is stored, and again unchanged', async () => {
  const [first, some] = agentRun();
  const [second, others] = agentRun();
  const lines = [some, others].map((spans) => JSON.stringify(requestOf(spans))).join('\n');
  expect(await pms('traces', 'push', await file('spans.jsonl', `${lines}\n`))).toBe('6 spans stored\n');
  expect(await pms('traces', 'push', await file('spans.jsonl.gz', gzipSync(lines)))).toBe('6 spans stored\n');
  for (const id of [first, second])
    expect(await settled(service, id)).toMatchObject({ steps: 3, service: 'travel-api' });

  // One request over several lines, with more spans than a request can have.
  const traceId = newTraceId();
  const root = newSpanId();
  const many = [
    span({ traceId, id: root, attributes: DONE }),
    ...Array.from({ length: 4_500 }, () => span({ traceId, parent: root })),
  ];
  const whole = await file('spans.json', JSON.stringify(requestOf(many), undefined, 1));
  expect(await pms('traces', 'push', whole)).toBe('4501 spans stored\n');
  expect((await settled(service, traceId)).steps).toBe(4_501);
});

test('an invalid file of spans is refused by position, and refused spans are named', async () => {
  const push = async (content: string) => cli.pms(['traces', 'push', await file('bad.jsonl', content)]);
  const good = JSON.stringify(requestOf(agentRun()[1]));
  expect(await push(`${good}\n{`)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^bad\.jsonl: line 2: is not valid JSON/),
  });
  expect(await push('{"spans":[]}')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('has no resourceSpans'),
  });
  expect(await push('{"resourceSpans":[]}')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('has no spans'),
  });
  expect((await cli.pms(['traces', 'push', 'none.json'])).stderr).toContain('There is no file or folder none.json.');
  const [, spans] = agentRun();
  const broken = spans.map((each, index) => (index === 1 ? { ...each, spanId: 'zz' } : each));
  expect(await push(JSON.stringify(requestOf(broken)))).toEqual({
    status: 2,
    stdout: '2 spans stored\n',
    stderr: expect.stringMatching(/1 spans were refused\.\n$/),
  });
  // The service's own message.
  const nothing = await push(JSON.stringify(requestOf(broken.slice(1, 2))));
  expect([nothing.status, nothing.stderr]).toEqual([2, expect.stringMatching(/^No span of the request can be read/)]);
});

const guide = ownBlocks(claimsOf('test/cli/traces.test.ts'));

test('the commands of the guide run as they are printed', async () => {
  const [block] = guide.take({ page: 'docs/cli.md', has: 'pms traces' });
  const [traceId, id] = ['5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b174'];
  await send(service.call, [span({ traceId, id, attributes: modelCall(52, 9, DONE) })]);
  await settled(service, traceId);
  await file('spans.jsonl', JSON.stringify(requestOf(agentRun()[1])));
  for (const line of block?.code.trim().split('\n') ?? []) {
    const [, ...args] = line.split(' ');
    if (args[1] !== 'tail') {
      await pms(...args);
      continue;
    }
    const following = cli.start(args);
    const [, spans] = agentRun();
    await send(service.call, spans);
    following.interrupt();
    expect((await following.ended).signal).toBe('SIGINT');
  }
});

test('tail prints each trace once, when it is settled', async () => {
  const [before, old] = agentRun();
  await send(service.call, old);
  await settled(service, before);
  const following = cli.start(['traces', 'tail', '--json', '--tool', 'get_weather']);
  const ids = () => [...following.output().matchAll(/^\{"id":"([0-9a-f]{32})"/gm)].map(([, id]) => id);
  const later: string[] = [];
  // Traces that were settled before the first poll are not printed: send some until one is.
  await waitFor('the first line', async () => {
    const [id, spans] = agentRun();
    await send(service.call, spans);
    await settled(service, id);
    later.push(id);
    return ids().length > 0;
  });
  const [last, spans] = agentRun();
  const [root, ...below] = spans;
  await send(service.call, below);
  await send(service.call, root === undefined ? [] : [root]);
  await waitFor('the last one', async () => ids().includes(last));
  expect(ids()).not.toContain(before);
  expect(new Set(ids()).size).toBe(ids().length);
  following.interrupt();
  expect((await following.ended).signal).toBe('SIGINT');
});
