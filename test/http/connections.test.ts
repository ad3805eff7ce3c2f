import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { serveMetrics } from '../../src/metrics.ts';
import { createOtherWorkspace } from '../api/workspace.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

const CONNECTIONS = 40;
/** One workspace gets at most half of the connections. */
const SHARE = CONNECTIONS / 2;

let service: TestService;
beforeAll(async () => {
  // Without workers, executions are waited for as long as their callers like.
  service = await startTestService({ MAX_CONNECTIONS: String(CONNECTIONS) }, { workers: false });
  await service.call('POST', '/prompts', { body: { name: 'p', template: 'Hi', model: 'sandbox/echo' } });
});
afterAll(() => service?.stop());

test('waiting requests of one workspace leave connections to others, and to /healthz', async () => {
  const other = await createOtherWorkspace(service, 'other');
  const gone = new AbortController();
  const answers: number[] = [];
  const waiting = Array.from({ length: SHARE + 10 }, () =>
    fetch(`${service.origin}/v1/executions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json', Prefer: 'wait=300' },
      body: JSON.stringify({ prompt_name: 'p' }),
      signal: gone.signal,
    }).then(
      async (answer) => {
        answers.push(answer.status);
        const body = await answer.json();
        expect(body).toMatchObject({
          error: { code: 'rate_limited', message: expect.stringContaining('in progress') },
        });
        expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
      },
      () => {},
    ),
  );
  await waitFor('those beyond the share to be refused', async () => answers.length >= 10);
  expect(answers).toEqual(Array(10).fill(429));
  expect((await fetch(`${service.origin}/healthz`)).status).toBe(200);
  expect((await other.call('GET', '/prompts')).status).toBe(200);
  expect((await service.call('GET', '/prompts')).status).toBe(429);
  gone.abort();
  await Promise.all(waiting);
  await waitFor('the share to be free again', async () => (await service.call('GET', '/prompts')).status === 200);
});

test('idle connections make way for new ones', async () => {
  const idle = Array.from({ length: CONNECTIONS }, () =>
    net.connect(Number(new URL(service.origin).port), '127.0.0.1').on('error', () => {}),
  );
  for (const socket of idle) socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await Promise.all(idle.map((socket) => once(socket, 'data')));
  expect((await fetch(`${service.origin}/healthz`, { headers: { Connection: 'close' } })).status).toBe(200);
  for (const socket of idle) socket.destroy();
});

test('the port of the metrics reports health, too; a starting or stopping process is alive, and not ready', async () => {
  let isAtWork = false;
  const metrics = await serveMetrics(service.dependencies, () => isAtWork);
  const get = (path: string) => fetch(`http://127.0.0.1:${metrics.port}${path}`);
  expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
  const notYet = await get('/readyz');
  expect(notYet.status).toBe(500);
  expect(await notYet.json()).toMatchObject({ status: 'unavailable', error: { code: 'temporarily_unavailable' } });
  isAtWork = true;
  expect(await (await get('/readyz')).json()).toEqual({ status: 'ok', database: 'ok', temporal: 'ok' });
  await metrics.close(1_000);
});
