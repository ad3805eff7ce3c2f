import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { waitFor } from '../support/wait-for.ts';
import { flood, maxMs, medianMs, report, startTwoTenants, type TwoTenants } from './support.ts';

let tenants: TwoTenants;
/** Accepts requests and never responds, as long as the test lasts. */
let hanging: Server;
let hangingCount = 0;
let isOver = false;
let receiver: Receiver;

beforeAll(async () => {
  tenants = await startTwoTenants();
  hanging = createServer((_, response) => {
    hangingCount += 1;
    if (isOver) response.end();
  });
  await new Promise<void>((resolve) => hanging.listen(0, '0.0.0.0', resolve));
  receiver = await startReceiver();
  const { status } = await tenants.other('POST', '/webhooks', {
    body: { url: receiver.url, events: ['prompt.created'] },
  });
  expect(status).toBe(201);
});

afterAll(async () => {
  // The service waits for requests in flight.
  isOver = true;
  hanging?.closeAllConnections();
  await tenants?.stop();
  await receiver?.close();
  hanging?.closeAllConnections();
  hanging?.close();
});

/** From the change to its delivery. */
async function delivered(name: string): Promise<void> {
  const { status } = await tenants.other('POST', '/prompts', {
    body: { name, template: 'Hi', model: 'openai/gpt-4o-mini' },
  });
  expect(status).toBe(201);
  const isThere = () => receiver.received.some(({ body }) => body.data.prompt_name === name);
  await waitFor(`the delivery about ${name}`, async () => isThere());
}

test('40 hanging hosts and 2,000 deliveries to them do not delay another workspace', async () => {
  const { hostile } = tenants;
  const idleMs = await medianMs(5, (index) => delivered(`idle-${index}`));
  const { port } = hanging.address() as AddressInfo;
  await flood(40, 4, async (index) => {
    const url = `http://127.0.1.${index + 1}:${port}/`;
    const { status } = await hostile('POST', '/webhooks', { body: { url, events: ['prompt.created'] } });
    expect(status).toBe(201);
  });
  await flood(50, 4, async (index) => {
    const { status } = await hostile('POST', '/prompts', {
      body: { name: `p-${index}`, template: 'Hi', model: 'openai/gpt-4o-mini' },
    });
    expect(status).toBe(201);
  });
  await waitFor('receivers to hang', async () => hangingCount >= 90);
  const busyMs = await medianMs(7, (index) => delivered(`busy-${index}`));
  report({ idleMs, busyMs, hangingCount });
  expect(busyMs).toBeLessThan(maxMs(idleMs));
});
