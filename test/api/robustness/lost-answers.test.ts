import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { startApi } from '../../../src/api/server.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { reconcileEvaluations } from '../../../src/jobs/reconcile-evaluations.ts';
import { reconcileExecutions } from '../../../src/jobs/reconcile-executions.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { proxyTo, type TcpProxy } from '../../support/proxy.ts';
import { type Call, createCall, startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';

let service: TestService;
let openai: StandIn;
let proxy: TcpProxy;
let proxied: Database;
let api: Awaited<ReturnType<typeof startApi>>;
/** Calls an API whose connection to PostgreSQL loses responses on command. Workers have another connection. */
let call: Call;
beforeAll(async () => {
  openai = await startOpenAiServer();
  service = await startTestService({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: openai.baseUrl });
  await service.call('POST', '/prompts', { body: { name: 'paid', template: 'hi', model: 'openai/gpt-4o-mini' } });
});
beforeEach(async () => {
  const { dependencies, databaseUrl } = service;
  const through = await proxyTo(databaseUrl);
  proxy = through.proxy;
  proxied = await openDatabase(through.url, { poolSize: 4 });
  api = await startApi({ ...dependencies, db: proxied, registry: new Registry() }, { eager: false });
  call = createCall(`http://127.0.0.1:${api.port}`, service.key);
  openai.behave();
});
afterEach(async () => {
  await api.close(0);
  proxy.cut();
  await proxied.close();
  await proxy.close();
});
afterAll(async () => {
  await service?.stop();
  await openai?.close();
});

const count = async (text: string) => (await service.dependencies.db.system.query({ text })).length;
const executions = () => count('select from executions');
const evaluations = () => count('select from evaluations');
const keys = () => count('select from idempotency_keys');

const run = (headers: Record<string, string> = {}) =>
  call('POST', '/executions', { body: { prompt_name: 'paid' }, headers });
const evaluate = (headers: Record<string, string> = {}, more: object = {}) =>
  call('POST', '/evaluations', {
    body: { prompt_name: 'paid', examples: [{ variables: {}, expected: 'x' }], ...more },
    headers,
  });

/** Half a minute later, the remaining processes pick up what they find. */
async function reconcile(): Promise<void> {
  const { db, client, taskQueues, log } = service.dependencies;
  const ago = `now() - interval '1 minute'`;
  await db.system.query({ text: `update executions set created_at = ${ago}, check_at = ${ago}` });
  await db.system.query({ text: `update evaluations set created_at = ${ago}, check_at = ${ago}` });
  await reconcileExecutions({ db, starter: { client, taskQueues, eager: false }, log });
  await reconcileEvaluations({ db, starter: { client, taskQueues, eager: false }, log });
}

interface Cut {
  what: string;
  request: string;
  answer: string;
  ask: () => ReturnType<Call>;
  rows: () => Promise<number>;
}
const KEY = { 'Idempotency-Key': 'once' };
const inADay = () => ({ start_at: new Date(Date.now() + 86_400_000).toISOString() });
const cuts: Cut[] = [
  {
    what: 'the insert of a run',
    request: 'insert into "executions"',
    answer: 'INSERT 0 1',
    ask: () => run(),
    rows: executions,
  },
  {
    what: 'the commit of a run and its key',
    request: 'commit\u0000',
    answer: 'COMMIT',
    ask: () => run(KEY),
    rows: executions,
  },
  {
    what: 'the commit of an evaluation',
    request: 'commit\u0000',
    answer: 'COMMIT',
    ask: () => evaluate(),
    rows: evaluations,
  },
  {
    what: 'the commit of an evaluation and its key',
    request: 'commit\u0000',
    answer: 'COMMIT',
    ask: () => evaluate(KEY),
    rows: evaluations,
  },
  {
    what: 'the acceptance of an evaluation that is due tomorrow',
    request: 'set "accepted_at"',
    answer: 'UPDATE 1',
    ask: () => evaluate({}, inADay()),
    rows: evaluations,
  },
];

test.each(cuts)('a 500 runs nothing later: the answer to $what is lost', async ({ request, answer, ask, rows }) => {
  // The accepted work must not have started by then.
  openai.behave({ latencyMs: 2_000 });
  const [before, called] = [await rows(), openai.callCount];
  const lost = proxy.loseAnswer(request, answer);
  const answered = await ask();
  if (answered.status === 500) await lost;
  expect([answered.status, answered.body.error.code]).toEqual([500, 'temporarily_unavailable']);
  const isGone = request === 'set "accepted_at"' ? 'canceled' : 'gone';
  if (isGone === 'gone') await until('the withdrawal', async () => (await rows()) === before);
  else
    await until(
      'the withdrawal',
      async () =>
        (await count(`select from executions where status in ('queued', 'running')
                    union all select from evaluations where status in ('scheduled', 'running', 'paused')`)) === 0,
    );
  expect(await keys()).toBe(0);
  if (isGone === 'gone') expect(openai.callCount).toBe(called);
});

test.each(cuts.filter(({ request }) => request !== 'set "accepted_at"'))(
  'nor if the API never gets to withdraw it: the answer to $what is lost',
  async ({ request, answer, ask, rows }) => {
    const [before, called] = [await rows(), openai.callCount];
    // Also the caller's second try through this API finds no database.
    const lost = proxy.loseAnswer(request, answer).then(() => proxy.cut());
    const answered = await ask();
    expect(answered.status).toBe(500);
    await lost;
    expect(await rows()).toBe(before + 1);
    await reconcile();
    expect(await rows()).toBe(before);
    expect(await keys()).toBe(0);
    expect(openai.callCount).toBe(called);
  },
);

test('a key whose first request failed starts over, once', async () => {
  for (const ask of [run, evaluate]) {
    const headers = { 'Idempotency-Key': `again-${ask.name}` };
    const lost = proxy.loseAnswer('commit\u0000', 'COMMIT');
    expect((await ask(headers)).status).toBe(500);
    await lost;
    const again = await until('a second try that works', async () => {
      const answer = await ask(headers);
      return answer.status === 201 ? answer : undefined;
    });
    expect((await ask(headers)).body.id).toBe(again.body.id);
  }
});
