import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { report } from '../support/hostile-report.ts';
import { insertExecutions, insertRun } from '../support/hostile-rows.ts';
import { AT_FULL_SIZE, type HostileStage, setHostileStage, sized } from '../support/hostile-stage.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import type { Answer } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

const MIB = 1024 * 1024;
const ENDED = ['completed', 'failed', 'canceled'];

let stage: HostileStage;
const receivers: Receiver[] = [];
beforeAll(async () => {
  stage = await setHostileStage();
});
// Reports the measurements, even if a later act never ends.
afterEach(() => report(stage.rows, AT_FULL_SIZE));
afterAll(async () => {
  if (stage === undefined) return;
  await stage.end();
  for (const receiver of receivers) await receiver.close();
});

/** Sends a request with any result: only a failure of the service itself counts. */
async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await stage.call(method, path, body === undefined ? {} : { body });
  expect(answer.status === 500 ? answer.body : undefined).toBeUndefined();
  return answer;
}

async function makePrompt(name: string, template: string, model: string): Promise<void> {
  expect((await ask('POST', '/prompts', { name, template, model })).status).toBe(201);
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/** Waits until a run has ended. */
async function untilEnded(id: string): Promise<void> {
  await waitFor(`the end of ${id}`, async () => ENDED.includes((await ask('GET', `/evaluations/${id}`)).body.status));
}

/** A text of `a` and `b`, which keeps counting patterns busy. */
function randomText(length: number): string {
  return times(Math.ceil(length / 8), () =>
    Math.floor(Math.random() * 256)
      .toString(2)
      .padStart(8, '0'),
  )
    .join('')
    .replaceAll('0', 'a')
    .replaceAll('1', 'b');
}

test('slow patterns on long outputs', async () => {
  await makePrompt('long', '{{ text }}', 'sandbox/echo');
  const evaluators = times(10, (n) => ({
    type: 'regex',
    name: `regex-${n}`,
    pattern: `(a|b)*a(a|b){${900 - n}}[cd]`,
  }));
  const examples = [{ variables: { text: randomText(MIB - 20_000) } }];
  await stage.act('scores 1 MB with ten regular expressions', async () => {
    const runs = await Promise.all(
      times(sized(8, 2), () => ask('POST', '/evaluations', { prompt_name: 'long', evaluators, examples })),
    );
    for (const { status, body } of runs) if (status === 201) await untilEnded(body.id);
  });
});

/** JSON Schema of that many bytes that takes long to compile. */
function largeSchema(bytes: number): object {
  const branch = (n: number) => ({
    type: 'object',
    properties: { [`p${n}`]: { anyOf: [{ type: 'string', pattern: `^a{1,${n % 50}}b$` }, { enum: [n, `${n}`] }] } },
    required: [`p${n}`],
  });
  return { allOf: times(Math.ceil(bytes / JSON.stringify(branch(1_000)).length), branch) };
}

test('large schemas', async () => {
  await makePrompt('schemas', '{{ text }}', 'sandbox/echo');
  const evaluators = times(10, (n) => ({ type: 'json_schema', name: `schema-${n}`, schema: largeSchema(62_000) }));
  const examples = times(3, () => ({ variables: { text: '{"p1": "ab"}' } }));
  await stage.act('asks for ten JSON schemas of 620 kB', async () => {
    for (let time = 0; time < sized(5, 1); time += 1) {
      const { status, body } = await ask('POST', '/evaluations', { prompt_name: 'schemas', evaluators, examples });
      if (status === 201) await untilEnded(body.id);
    }
  });
});

test('examples that would make long inputs', async () => {
  await makePrompt('placeholders', '{{ x }}'.repeat(4_500), 'sandbox/echo');
  const examples = times(1_000, (n) => ({ variables: { x: `${n}`.padEnd(900, 'x') } }));
  await stage.act('gives 1,000 examples for 4,500 placeholders', async () => {
    for (let time = 0; time < sized(5, 1); time += 1) {
      const request = { prompt_name: 'placeholders', examples, start_at: '2099-01-01T00:00:00Z' };
      const { status, body } = await ask('POST', '/evaluations', request);
      if (status === 201) await ask('POST', `/evaluations/${body.id}/cancel`);
    }
  });
});

test('runs that stall', async () => {
  await makePrompt('stalled', 'Say {{ text }}', 'openai-compatible/stalled');
  await stage.act(`has ${sized(400, 160)} executions under way with a model that stalls`, async () => {
    const started = await Promise.all(
      times(sized(400, 160), (n) =>
        stage.call('POST', '/executions', {
          body: { prompt_name: 'stalled', variables: { text: `${n}` } },
          headers: { Prefer: 'respond-async' },
        }),
      ),
    );
    const ids = started.flatMap(({ status, body }) => (status === 201 ? [body.id] : []));
    expect(ids.length).toBeGreaterThan(0);
    await stage.stalling.called(Math.min(ids.length, 50));
    await Promise.all(ids.map((id) => ask('POST', `/executions/${id}/cancel`)));
  });
});

test('receivers that hang', async () => {
  await makePrompt('told', 'Hi', 'sandbox/echo');
  for (let n = 0; n < sized(20, 12); n += 1) {
    const receiver = await startReceiver(() => {});
    receivers.push(receiver);
    const { status } = await ask('POST', '/webhooks', { url: receiver.url, events: ['prompt.created'] });
    expect(status).toBe(201);
  }
  await stage.act(`has ${receivers.length} receivers that never answer`, async () => {
    await Promise.all(
      times(sized(60, 40), (n) => ask('PUT', '/prompts/told', { template: `Hi ${n}`, commit_message: 'another' })),
    );
    for (const receiver of receivers) await receiver.got(1);
  });
  for (const { id } of (await ask('GET', '/webhooks')).body.data) await ask('DELETE', `/webhooks/${id}`);
});

/** Concurrent requests, each repeated. */
async function storm(concurrency: number, rounds: number, paths: readonly string[]): Promise<void> {
  await Promise.all(
    times(concurrency, async (n) => {
      for (let round = 0; round < rounds; round += 1)
        expect(await stage.readAway(paths[(n + round) % paths.length] ?? '')).not.toBe(500);
    }),
  );
}

test('pages of large records', async () => {
  await insertExecutions(stage.db.system.query, stage.workspaceId, sized(1_000, 40), 4 * MIB, 'huge');
  await stage.act('lists executions of 4 MiB, 8 pages at a time', () =>
    storm(8, sized(10, 2), ['/executions?prompt_name=huge&limit=100', '/executions?prompt_name=huge&limit=1000']),
  );
});

test('comparisons of long runs', async () => {
  const size = sized(1_000_000, 20_000);
  const runs = [
    await insertRun(stage.db.system.query, stage.workspaceId, size),
    await insertRun(stage.db.system.query, stage.workspaceId, size),
  ];
  await stage.act(`compares two runs of ${size.toLocaleString('en')} examples`, () =>
    storm(2, 1, [`/evaluations/${runs[0]}/compare/${runs[1]}`]),
  );
  await stage.act(`reads heavily, 40 at a time, at ${(2 * size).toLocaleString('en')} results`, () =>
    storm(40, sized(5, 1), [
      '/usage?group_by=prompt,model,day',
      `/evaluations/${runs[0]}/results?failed=true`,
      `/evaluations/${runs[1]}/results?regression=true`,
      '/executions?status=failed&model=nobody/knows',
    ]),
  );
});
