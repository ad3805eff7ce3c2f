import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId, publicId } from '../../../src/domain/ids.ts';
import { encodeCursor } from '../../../src/http/pagination.ts';
import { EXAMINED_EXECUTIONS } from '../../../src/services/executions/executions.ts';
import { COUNTED_EXECUTIONS } from '../../../src/services/executions/facets.ts';
import { type Call, startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { copyExecutions } from '../queues/queues-support.ts';
import { registerWebhook } from '../webhooks/webhooks-support.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
let other: { call: Call };
const START = '2026-01-31T12:00:00.000Z';

/** Runs as an application records them, oldest first. */
async function record(call: Call, records: object[]): Promise<string[]> {
  const { status, body } = await call('POST', '/executions/record', {
    body: {
      records: records.map((one) => ({
        model: 'sandbox/echo',
        input: 'a question',
        output: 'an answer',
        tokens: { input: 1, output: 1 },
        started_at: new Date(Date.now() - 60_000).toISOString(),
        finished_at: new Date(Date.now() - 59_000).toISOString(),
        ...one,
      })),
    },
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.ids;
}

const list = (query: Record<string, string | string[]>, call: Call = service.call, at = '/executions') => {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return call('GET', `${at}?${new URLSearchParams(pairs).toString()}`);
};
const found = async (query: Record<string, string | string[]>, call?: Call): Promise<string[]> => {
  const { status, body } = await list(query, call);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data.map(({ id }: { id: string }) => id).toReversed();
};

beforeAll(async () => {
  service = await startTestService();
  other = await createOtherWorkspace(service, 'other');
  await service.call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ word }}', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

test('searches of disconnected callers do not queue', async () => {
  const { db, registry } = service.dependencies;
  const lock = 4_712;
  const [workspace] = await db.system.query<{ id: string }>({
    text: `select id from workspaces where name = 'default'`,
  });
  const givenUp = async () =>
    (await registry.getSingleMetric('pms_http_requests_total')?.get())?.values
      .filter(({ labels }) => labels['route'] === '/v1/executions/facets' && labels['status'] === '429')
      .reduce((sum, { value }) => sum + value, 0) ?? 0;
  await db.system.transaction(async (query) => {
    await query({ text: `select pg_advisory_xact_lock(${lock})` });
    const wait = {
      text: `select pg_advisory_xact_lock_shared(${lock}) /* workspace_id = $1 */ where $1::uuid is not null`,
    };
    const busy = Array.from({ length: 20 }, () => db.workspace(workspace?.id ?? '').heavy.query(wait));
    const leave = new AbortController();
    const gone = Array.from({ length: 10 }, () =>
      fetch(`${service.origin}/v1/executions/facets?q=x`, {
        headers: { Authorization: `Bearer ${service.key}` },
        signal: leave.signal,
      }).catch(() => undefined),
    );
    // They have arrived once a later request is answered.
    await service.call('GET', '/executions?limit=1');
    leave.abort();
    await Promise.all(gone);
    await waitFor('all of them to be given up', async () => (await givenUp()) > 0);
    await query({ text: 'commit' });
    await Promise.all(busy);
  });
  expect((await list({ q: 'x' })).status).toBe(200);
});

describe('a search of texts', () => {
  let refund = '';
  let message = '';
  let tool = '';
  let failed = '';
  beforeAll(async () => {
    [refund = '', message = '', tool = '', failed = ''] = await record(service.call, [
      { input: 'The Refund of order 17', output: 'Done: 100 % of it_is back' },
      {
        input: [
          { role: 'system', content: 'Be "kind"\nand Brief' },
          { role: 'user', content: [{ type: 'text', text: 'Où est ma commande ?' }] },
        ],
      },
      { output: null, tool_calls: [{ id: 'c1', name: 'look_up', input: { place: 'Tromsø' } }] },
      { output: null, error: { code: 'provider_error', message: 'overloaded, come back' } },
    ]);
    await record(other.call, [{ input: 'The Refund of order 17' }]);
  });

  test.each([
    ['a word of the input, in any case', 'refund', () => [refund]],
    ['a part of a word', 'efun', () => [refund]],
    ['words that are in different texts', 'order done', () => [refund]],
    ['a phrase', '"order 17"', () => [refund]],
    ['words in another order', '"17 order"', () => []],
    ['one word that is missing', 'refund nowhere', () => []],
    ['a character that means something to LIKE', '"100 %"', () => [refund]],
    ['an underline, which stands for itself', 'it_is', () => [refund]],
    ['the same without a match', 'n_answer', () => []],
    ['a message', 'kind brief', () => [message]],
    ['what JSON would have escaped', '"be kind"', () => []],
    ['a part of a message, beyond ASCII', 'COMMANDE', () => [message]],
    ['what a tool was asked', 'tromsø', () => [tool]],
    ['an error', 'overloaded', () => [failed]],
    ['no role of a message', 'system', () => []],
  ])('finds %s', async (_, q, ids) => {
    expect(await found({ q })).toEqual(ids());
  });

  test('stays in the workspace', async () => {
    expect(await found({ q: 'refund' })).toEqual([refund]);
    const theirs = await found({ q: 'refund' }, other.call);
    expect(theirs).toHaveLength(1);
    expect(theirs).not.toEqual([refund]);
    expect((await list({ q: 'refund' }, other.call, '/executions/facets')).body.counted).toBe(1);
  });

  test('works with other filters', async () => {
    expect(await found({ q: 'come', status: 'failed' })).toEqual([failed]);
    expect(await found({ q: 'come', status: 'completed' })).toEqual([]);
    expect(await found({ q: 'refund', until: START })).toEqual([]);
  });

  test.each([
    ['nothing', '', 'has no words'],
    ['spaces', '   ', 'has no words'],
    ['an empty phrase', '""', 'has no words'],
    ['an open quotation mark', 'a "b', 'unclosed quotation mark'],
    ['too many words', Array.from({ length: 11 }, (_, index) => `w${index}`).join(' '), 'at most 10'],
    ['too long a text', 'x'.repeat(201), 'at most 200 characters'],
    ['NUL', 'a\0b', 'NUL'],
  ])('refuses %s', async (_, q, message) => {
    for (const at of ['/executions', '/executions/facets']) {
      const { status, body } = await list({ q }, service.call, at);
      expect([status, body.error.details]).toEqual([400, [{ path: 'q', message: expect.stringContaining(message) }]]);
    }
  });
});

describe('conditions on an execution', () => {
  let cheap = '';
  let dear = '';
  beforeAll(async () => {
    [cheap = '', dear = ''] = await record(service.call, [
      {
        prompt_name: 'say',
        prompt_version: 1,
        cost: '0.001',
        metadata: { customer: 'acme', tier: 'a=b' },
        started_at: new Date(Date.now() - 10_000).toISOString(),
        finished_at: new Date(Date.now() - 9_900).toISOString(),
      },
      {
        prompt_name: 'say',
        prompt_version: 1,
        cost: '0.2',
        metadata: { customer: 'other' },
        started_at: new Date(Date.now() - 10_000).toISOString(),
        finished_at: new Date(Date.now() - 5_000).toISOString(),
      },
    ]);
  });
  const scope = { prompt_name: 'say' };

  test('cost, inclusive at both ends', async () => {
    expect(await found({ ...scope, min_cost: '0.2' })).toEqual([dear]);
    expect(await found({ ...scope, max_cost: '0.001' })).toEqual([cheap]);
    expect(await found({ ...scope, min_cost: '0.0010000001', max_cost: '0.1' })).toEqual([]);
  });

  test('latency, of ended executions', async () => {
    expect(await found({ ...scope, min_latency_ms: '5000' })).toEqual([dear]);
    expect(await found({ ...scope, max_latency_ms: '100' })).toEqual([cheap]);
  });

  test('metadata, in full', async () => {
    expect(await found({ metadata: 'customer=acme' })).toEqual([cheap]);
    expect(await found({ metadata: ['customer=acme', 'tier=a=b'] })).toEqual([cheap]);
    expect(await found({ metadata: ['customer=acme', 'tier=c'] })).toEqual([]);
  });

  test('the version, and the code of an error', async () => {
    expect((await found({ ...scope, prompt_version: '1' })).toSorted()).toEqual([cheap, dear].toSorted());
    expect(await found({ ...scope, prompt_version: '2' })).toEqual([]);
    const [failed] = await record(service.call, [{ output: null, error: { code: 'quite_rare', message: 'x' } }]);
    expect(await found({ error_code: 'quite_rare' })).toEqual([failed]);
  });

  test('an id prefix', async () => {
    expect(await found({ id: cheap })).toEqual([cheap]);
    expect(await found({ id: cheap.slice(0, -1) })).toContain(cheap);
    expect(await found({ id: 'exec_ffff' })).toEqual([]);
    expect(await found({ id: cheap }, other.call)).toEqual([]);
  });

  test.each([
    [{ min_cost: '-1' }, 'min_cost'],
    [{ min_cost: '1e3' }, 'min_cost'],
    [{ min_cost: '2', max_cost: '1' }, 'max_cost'],
    [{ min_latency_ms: '1.5' }, 'min_latency_ms'],
    [{ min_latency_ms: '99999999999' }, 'min_latency_ms'],
    [{ min_latency_ms: '2', max_latency_ms: '1' }, 'max_latency_ms'],
    [{ metadata: 'customer' }, 'metadata.0'],
    [{ metadata: ['a=1', 'a=2'] }, 'metadata'],
    [{ metadata: Array.from({ length: 11 }, (_, index) => `n${index}=1`) }, 'metadata'],
    [{ prompt_version: '0' }, 'prompt_version'],
    [{ error_code: '' }, 'error_code'],
    [{ id: '0198f0aa' }, 'id'],
    [{ id: 'exec_' }, 'id'],
    [{ id: 'exec_xyz' }, 'id'],
    [{ id: `${publicId('execution', newId())}0` }, 'id'],
    [{ q: ['a', 'b'] }, 'q'],
  ])('a 400 names the error in %j', async (query, path) => {
    const { status, body } = await list(query as Record<string, string>);
    expect([status, body.error.details[0]?.path]).toEqual([400, path]);
  });

  test('they select the examples of a dataset', async () => {
    const { status, body } = await service.call('POST', '/datasets/dear/from-executions', {
      body: { prompt_name: 'say', min_cost: 0.2, min_latency_ms: 5000, metadata: { customer: 'other' } },
    });
    expect([status, body.examples_total]).toEqual([201, 1]);
    const { body: examples } = await service.call('GET', '/datasets/dear/examples');
    expect(examples.data[0].id).toBe(dear);
    for (const wrong of [{ min_cost: -1 }, { min_cost: '1e3' }, { max_latency_ms: -1 }, { metadata: [] }]) {
      const answer = await service.call('POST', '/datasets/dear/from-executions', { body: wrong });
      expect([answer.status, answer.body.error.details[0].path]).toEqual([400, Object.keys(wrong)[0]]);
    }
  });

  test('a queue keeps them', async () => {
    const filter = { min_cost: '0.2', prompt_version: 1, metadata: { customer: 'other' }, error_code: 'x' };
    const { body } = await service.call('PUT', '/queues/dear', { body: { score_names: ['tone'], filter } });
    expect(body.filter).toEqual(filter);
  });
});

describe('a list in another order', () => {
  const ids: Record<string, string> = {};
  let call: Call;
  const nameOf = (id: string) => Object.entries(ids).find(([, each]) => each === id)?.[0];
  const page = async (query: Record<string, string>) => {
    const { status, body } = await list(query, call);
    expect([status, body.error]).toEqual([200, undefined]);
    return { names: body.data.map(({ id }: { id: string }) => nameOf(id)), next: body.next_cursor };
  };

  beforeAll(async () => {
    ({ call } = await createOtherWorkspace(service, 'in-order'));
    const now = Date.now();
    const runs = {
      cheap: { cost: '0.00000012', tokens: { input: 5, output: 5 }, ms: 300 },
      unknown: { model: 'unheard/of', tokens: { input: 1, output: 1 }, ms: 200 },
      dear: { cost: '12.5', tokens: { input: 900, output: 1 }, ms: 100 },
      middle: { cost: '0.3', tokens: { input: 7, output: 7 }, ms: 400 },
      same: { cost: '0.3', tokens: { input: 7, output: 7 }, ms: 400 },
    };
    const stored = await record(
      call,
      Object.values(runs).map(({ ms, ...run }, index) => ({
        ...run,
        started_at: new Date(now - 20_000 + index * 1_000).toISOString(),
        finished_at: new Date(now - 20_000 + index * 1_000 + ms).toISOString(),
      })),
    );
    for (const [index, name] of Object.keys(runs).entries()) ids[name] = stored[index] ?? '';
  });

  test.each([
    ['-cost', ['dear', 'same', 'middle', 'cheap', 'unknown']],
    ['cost', ['unknown', 'cheap', 'same', 'middle', 'dear']],
    ['-latency', ['same', 'middle', 'cheap', 'unknown', 'dear']],
    ['tokens', ['unknown', 'cheap', 'same', 'middle', 'dear']],
  ])('by %s, in pages of two, during inserts', async (sort, expected) => {
    const names: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { names: some, next } = await page({ sort, limit: '2', ...(cursor && { cursor }) });
      names.push(...some);
      if (next === null) break;
      if (cursor === '') await record(call, [{ cost: '99', metadata: { late: 'yes' } }]);
      cursor = next;
    }
    expect(names.filter((name) => name !== undefined)).toEqual(expected);
  });

  test('of matching ones', async () => {
    expect((await page({ sort: '-cost', max_cost: '1' })).names).toEqual(['same', 'middle', 'cheap']);
    expect(await page({ sort: '-cost', min_cost: '1000' })).toEqual({ names: [], next: null });
    expect((await page({ sort: '-cost', q: 'answer', min_cost: '12', max_cost: '13' })).names).toEqual(['dear']);
  });

  test.each([
    [{ sort: 'price' }, 'sort'],
    [{ sort: '--cost' }, 'sort'],
    [{ sort: 'cost', cursor: 'x' }, 'cursor'],
    [{ sort: 'cost', cursor: encodeCursor(newId()) }, 'cursor'],
    [{ sort: 'cost', cursor: encodeCursor(`cost x ${newId()} ${newId()} ${newId()}`) }, 'cursor'],
    [{ sort: 'cost', cursor: encodeCursor(`cost 1 ${newId()} ${newId()} ${newId()} ${newId()}`) }, 'cursor'],
    [{ sort: 'cost', cursor: encodeCursor(`-cost 1 ${newId()} ${newId()} ${newId()}`) }, 'cursor'],
    [{ cursor: encodeCursor(`cost 1 ${newId()} ${newId()} ${newId()}`) }, 'cursor'],
  ])('a 400 names the error in %j', async (query, path) => {
    const { status, body } = await list(query as Record<string, string>, call);
    expect([status, body.error.details[0]?.path]).toEqual([400, path]);
  });

  test('nothing of another workspace, even by its cursor', async () => {
    const { body } = await list({ sort: '-cost', limit: '1' }, call);
    const stranger = await createOtherWorkspace(service, 'stranger');
    const answer = await list({ sort: '-cost', cursor: body.next_cursor }, stranger.call);
    expect([answer.status, answer.body.data]).toEqual([200, []]);
  });
});

describe('facets', () => {
  const facets = async (query: Record<string, string> = {}, call?: Call) => {
    const { status, body } = await list(query, call, '/executions/facets');
    expect([status, body.error]).toEqual([200, undefined]);
    return body;
  };

  test('count the matches, by each of them', async () => {
    const third = await createOtherWorkspace(service, 'third');
    for (const template of ['one', 'two'])
      await third.call('POST', '/prompts', { body: { name: 'a/b', template, model: 'sandbox/echo' } });
    await record(third.call, [
      { prompt_name: 'a/b', prompt_version: 2 },
      { prompt_name: 'a/b', prompt_version: 2, model: 'openai/gpt-4o-mini', cost: '0.1' },
      { output: null, error: { code: 'timeout', message: 'no answer to request 17' } },
      { output: null, error: { code: 'timeout', message: 'no answer to request 18' } },
      { output: null, error: { code: 'refused', message: 'no such model' } },
    ]);
    const all = await facets({}, third.call);
    expect(all).toEqual({
      counted: 5,
      failures: [
        { code: 'timeout', message: 'no answer to request 17', count: 2 },
        { code: 'refused', message: 'no such model', count: 1 },
      ],
      complete: true,
      facets: {
        status: [
          { value: 'failed', count: 3 },
          { value: 'completed', count: 2 },
        ],
        prompt_name: [{ value: 'a/b', count: 2 }],
        prompt_version: [{ value: '2', count: 2 }],
        model: [
          { value: 'sandbox/echo', count: 4 },
          { value: 'openai/gpt-4o-mini', count: 1 },
        ],
        label: [],
        recorded: [{ value: 'true', count: 5 }],
        error_code: [
          { value: 'timeout', count: 2 },
          { value: 'refused', count: 1 },
        ],
      },
    });
    const some = await facets({ status: 'completed', min_cost: '0.01' }, third.call);
    expect(some.facets.model).toEqual([{ value: 'openai/gpt-4o-mini', count: 1 }]);
    expect([some.counted, some.failures]).toEqual([1, []]);
    expect(await facets({ id: 'exec_ffff' }, third.call)).toMatchObject({ counted: 0, complete: true });
    await service.call('GET', '/executions/facets?limit=1').then(({ status }) => expect(status).toBe(400));
  });

  test('beyond the counting limit are of the newest, and say so', async () => {
    const many = await createOtherWorkspace(service, 'many');
    await many.call('POST', '/prompts', { body: { name: 'x', template: 'rare words', model: 'sandbox/echo' } });
    const { body } = await many.call('POST', '/executions', { body: { prompt_name: 'x' } });
    await copyExecutions(service, body.id, COUNTED_EXECUTIONS + 1);
    const counted = await facets({}, many.call);
    expect(counted).toMatchObject({ counted: COUNTED_EXECUTIONS, complete: false });
    expect(counted.facets.status).toEqual([{ value: 'completed', count: COUNTED_EXECUTIONS }]);
    expect(await facets({ q: 'words' }, many.call)).toMatchObject({ counted: EXAMINED_EXECUTIONS, complete: false });

    // The first one is beyond two parts of the search: each is bounded, and reports that there is more.
    await service.dependencies.db.system.query({
      text: `update executions set output = 'a needle' where id = '${body.id.slice(5)}'`,
    });
    let page = await list({ q: 'needle' }, many.call);
    let pages = 1;
    for (; page.body.data.length === 0 && page.body.next_cursor !== null; pages += 1)
      page = await list({ q: 'needle', cursor: page.body.next_cursor }, many.call);
    expect(page.body.data.map(({ id }: { id: string }) => id)).toEqual([body.id]);
    expect(pages).toBe(3);
  });
});

describe('webhook events about the end of an execution', () => {
  const told = (id: string, call: Call = service.call) => call('GET', `/executions/${id}/deliveries`);

  test('are listed, only of this execution', async () => {
    const before = await service.call('POST', '/executions', {
      body: { prompt_name: 'say', variables: { word: 'a' } },
    });
    const { id: webhook } = await registerWebhook(service);
    const run = () => service.call('POST', '/executions', { body: { prompt_name: 'say', variables: { word: 'b' } } });
    const [{ body: one }] = [await run(), await run()];
    const delivery = await waitFor('the delivery', async () => (await told(one.id)).body.data[0]);
    expect(delivery).toMatchObject({ webhook_id: webhook, event: 'execution.completed', trigger: 'event' });
    const { body: event } = await service.call('GET', `/events/${delivery.event_id}`);
    expect(event.data.execution_id).toBe(one.id);
    expect((await told(one.id)).body.data).toHaveLength(1);
    expect((await told(before.body.id)).body).toEqual({ data: [] });
    expect((await told(one.id, other.call)).status).toBe(404);
    expect((await told('exec_none')).status).toBe(404);
  });
});
