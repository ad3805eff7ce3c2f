import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { report } from '../support/hostile-report.ts';
import { AT_FULL_SIZE, type HostileStage, setHostileStage, sized } from '../support/hostile-stage.ts';

const BODY_BYTES = Math.floor(3.9 * 1024 * 1024);
/** Ninety-nine percent of another workspace's reads take at most this long while large bodies and records are processed. */
const MAX_READ_MS = 300;

let stage: HostileStage;
beforeAll(async () => {
  stage = await setHostileStage();
  const prompt = { name: 'values', template: 'Say hi', model: 'sandbox/echo' };
  expect(await stage.call('POST', '/prompts', { body: prompt })).toMatchObject({ status: 201 });
});
afterEach(() => report(stage.rows, AT_FULL_SIZE));
afterAll(() => stage?.end());

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** A list of that many bytes, consisting of this item. */
const listOf = (item: string, bytes: number) =>
  `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)) - 1)}${item}]`;
const TINY = ['{}', '[]', '1'];

async function act(name: string, hostile: () => Promise<void>): Promise<void> {
  await stage.act(name, hostile);
  const { read } = stage.rows.at(-1)?.delays ?? {};
  if (AT_FULL_SIZE) expect(read?.p99Ms).toBeLessThan(MAX_READ_MS);
}

const postAtATime = (count: number, body: (index: number) => string) =>
  Promise.all(
    times(count, (n) =>
      stage.call('POST', '/executions', { raw: body(n), headers: { 'Content-Type': 'application/json' } }),
    ),
  );

test('bodies of many tiny values', async () => {
  const count = sized(100, 20);
  const bodies = TINY.map((item) => `{"prompt_name":"values","variables":{"x":${listOf(item, BODY_BYTES)}}}`);
  await act(`sends ${count} bodies of 3.9 MiB at a time, of {}, [] and numbers`, async () => {
    for (let round = 0; round < sized(5, 1); round += 1)
      for (const { status, body } of await postAtATime(count, (n) => bodies[n % bodies.length] ?? '')) {
        expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
        expect(body.error.message).toContain('at most 100000');
      }
  });
});

test('bodies of the most values allowed', async () => {
  const count = sized(100, 10);
  const text = 'x'.repeat(BODY_BYTES / 49_000 - 8);
  const values = times(49_000, (n) => [`${n}${text}`.slice(0, text.length), 1]).flat();
  const body = JSON.stringify({ prompt_name: 'values', variables: { x: values } });
  await act(`runs ${count} executions of 3.9 MiB and 98,000 values at a time`, async () => {
    for (const answer of await postAtATime(count, () => body))
      expect({ status: answer.status, error: answer.body.error }).toEqual({ status: 201, error: null });
  });
});

/** Makes the variables of a stored row a list of tiny values, more than a request can contain. */
const TOO_MANY = `jsonb_build_object('x', ('[' || repeat('{},', $2::int / 3 - 1) || '{}]')::jsonb)`;

test('stored records of more values than the limit', async () => {
  const { body } = await stage.call('POST', '/executions', { body: { prompt_name: 'values' } });
  await stage.db.system.query(
    { text: `update executions set variables = ${TOO_MANY} where prompt_name = 'values' and id = $1::uuid` },
    [body.id.slice('exec_'.length), BODY_BYTES],
  );
  const { status, body: read } = await stage.call('GET', `/executions/${body.id}`);
  expect({ status, items: read.variables.x.length }).toEqual({ status: 200, items: Math.floor(BODY_BYTES / 3) });
  await act('reads an execution of 1,360,000 values, 10 at a time', () => readAtATime(`/executions/${body.id}`));
});

test('pages of examples of more values than the limit', async () => {
  const lines = times(20, (n) => JSON.stringify({ id: `${n}`, variables: { x: n } })).join('\n');
  const headers = { 'Content-Type': 'application/x-ndjson' };
  expect(await stage.call('PUT', '/datasets/values', { raw: lines, headers })).toMatchObject({ status: 200 });
  await stage.db.system.query({ text: `update dataset_examples set variables = ${TOO_MANY} where $1` }, [
    true,
    1_000_000,
  ]);
  const { body } = await stage.call('GET', '/datasets/values/examples');
  expect(body.data.length).toBeGreaterThan(1);
  await act('lists examples of 330,000 values each, 10 pages at a time', () =>
    readAtATime('/datasets/values/examples'),
  );
});

async function readAtATime(path: string): Promise<void> {
  await Promise.all(
    times(10, async () => {
      for (let round = 0; round < sized(20, 2); round += 1) expect(await stage.readAway(path)).toBe(200);
    }),
  );
}
