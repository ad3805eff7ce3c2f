import { afterAll, expect, test } from '@jest/globals';
import { createScene } from '../support/fault-webhooks.ts';

const scene = createScene();
afterAll(() => scene.end());

test('secrets of a webhook are in no log of any process, at any level', async () => {
  const stage = await scene.stage({ LOG_LEVEL: 'trace', WEBHOOK_RETRY_WAITS: '1s,1s' });
  const processes = await Promise.all([stage.startApi(), stage.startWorker()]);
  const receiver = await scene.receiver((request, response) => {
    // The first attempt fails and echoes everything that it received.
    const isFirst = request.headers['x-delivery-attempt'] === '1';
    response.writeHead(isFirst ? 500 : 200).end(JSON.stringify(request.headers));
  });
  const secret = 'a-secret-of-our-own-0123456789';
  const headers = { Authorization: 'Bearer the-token-of-the-receiver' };
  const url = `${receiver.url}?token=in-the-address`;
  const { status, body } = await stage.call('POST', '/webhooks', { body: { url, secret, headers } });
  expect(status).toBe(201);
  const rotated = await stage.call('POST', `/webhooks/${body.id}/rotate-secret`);
  const bad = await stage.call('POST', '/webhooks', { body: { url, secret: `${secret} with a space` } });
  expect([rotated.status, bad.status]).toEqual([200, 400]);
  const prompt = { name: 'logged', template: 'the text of a prompt', model: 'sandbox/echo' };
  expect((await stage.call('POST', '/prompts', { body: prompt })).status).toBe(201);
  await stage.untilStatus(body.id.slice('wh_'.length), 'delivered', 1);

  expect(receiver.received).toHaveLength(2);
  const output = processes.map((each) => each.output()).join('\n');
  expect(output).toContain('"level":');
  for (const hidden of [secret, rotated.body.secret, 'the-token-of-the-receiver', 'in-the-address', prompt.template])
    expect(output).not.toContain(hidden);
});
