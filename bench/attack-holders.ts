import { deriveKey } from '../test/support/derived-keys.ts';
import { type Call, createCall } from '../test/support/service.ts';
import { until } from '../test/support/wait-for.ts';
import { callOk, keyOf } from './attack-calls.ts';
import { type Row, row } from './report.ts';
import type { Service } from './service.ts';

/** Programs that concurrently request a key through a session of one key. */
const ASKED = 100;
/** The documented number that get one. */
const KEYS = 20;
const REQUESTS = 15_000;
const CALLERS = 60;

/** Time limit of the whole attack. */
const PATIENCE_MS = 60_000;

/** One key, and as many others as can be created from it, act as several people. @param limit requests per minute of a key */
export async function attackByHolders(service: Service, limit: number): Promise<Row[]> {
  const owner = createCall(service.origin, service.key);
  const root = await keyOf(service, 'holder', ['read', 'write', 'publish', 'execute']);
  const answers = await Promise.all(Array.from({ length: ASKED }, () => deriveKey({ call: owner }, root.key)));
  const derived = answers.flatMap(({ body }) => (typeof body.key === 'string' ? [body.key as string] : []));
  const all = [root.key, ...derived].map((key) => createCall(service.origin, key));

  await callOk(
    owner('PUT', '/labels/guarded', { body: { release: { steps: [{ type: 'approve', count: 2 }], required: true } } }),
  );
  for (const template of ['old', 'new'])
    await callOk(owner('POST', '/prompts', { body: { name: 'held', template, model: 'sandbox/echo' } }));
  const first = { version: 1, override: true, reason: 'the first' };
  await callOk(owner('PUT', '/prompts/held/labels/guarded', { body: first }));
  const { id } = await callOk(
    owner('POST', '/releases', { body: { prompt_name: 'held', label: 'guarded', version: 2 } }),
  );
  const release = async () => callOk(owner('GET', `/releases/${id}`));
  await until(
    'the release to ask',
    async () => (await release()).status === 'awaiting_approval' || undefined,
    PATIENCE_MS,
  );
  await Promise.all(all.map((call) => call('POST', `/releases/${id}/approve`, { body: {} })));
  const { approvals } = await release();

  await callOk(owner('PUT', '/queues/held', { body: { score_names: ['good'], reviewers_per_item: 3 } }));
  const run = await callOk(owner('POST', '/executions', { body: { prompt_name: 'held' } }));
  await callOk(owner('POST', '/queues/held/items', { body: { execution_ids: [run.id] } }));
  let reviews = 0;
  for (const call of all) {
    const { item } = await callOk(call('POST', '/queues/held/next'));
    if (item === null) continue;
    const scores = [{ name: 'good', value: true }];
    const { status } = await call('POST', `/queues/held/items/${item.id}/complete`, { body: { scores } });
    if (status === 200) reviews += 1;
  }

  const began = performance.now();
  let sent = 0;
  let taken = 0;
  const ask = async (call: Call) => {
    while (sent < REQUESTS) {
      sent += 1;
      if ((await call('GET', '/me')).status === 200) taken += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => ask(all[index % all.length] ?? owner)));
  const minutes = (performance.now() - began) / 60_000;
  return [
    row(`6: keys that ${ASKED} programs get from one key`, '', [derived.length], { atMost: KEYS }),
    row('6: approvals by a key and all of its keys', '', [approvals.length], { atMost: 1 }),
    row('6: reviews of one item by them', '', [reviews], { atMost: 1 }),
    row(
      `6: requests they get through of ${REQUESTS}, to what one key may`,
      'times',
      [taken / (limit * (1 + minutes))],
      {
        atMost: 1.01,
      },
    ),
  ];
}
