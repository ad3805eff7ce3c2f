import net from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

let service: TestService;
let port: number;
beforeAll(async () => {
  service = await startTestService({ MAX_CONNECTIONS_PER_ADDRESS: '400' }, { workers: false });
  port = Number(new URL(service.origin).port);
});
afterAll(() => service?.stop());

/** A connection that sends `start` immediately and then one byte per second, for as long as allowed. */
interface Slow {
  answer: string;
  closed: boolean;
  destroy(): void;
}

function sendSlowly(start: string, drip: string): Slow {
  const socket = net.connect(port, '127.0.0.1', () => socket.write(start));
  const dripping = setInterval(() => socket.writable && socket.write(drip), 1_000);
  const slow: Slow = { answer: '', closed: false, destroy: () => socket.destroy() };
  socket.on('data', (chunk) => {
    slow.answer += chunk.toString();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(dripping);
    slow.closed = true;
  });
  return slow;
}

const post = (key: string) =>
  `POST /v1/prompts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{`;

test('hundreds of slow callers delay no one, and get an error and are cut off', async () => {
  const start = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
  const many = (make: () => Slow) => Array.from({ length: 100 }, make);
  const headers = many(() => sendSlowly(start, 'X'));
  const bodies = many(() => sendSlowly(post(service.key), ' '));
  const strangers = many(() => sendSlowly(post('unknown'), ' '));
  const all = [...headers, ...bodies, ...strangers];
  try {
    await waitFor('the strangers to be refused', async () =>
      strangers.every(({ answer }) => answer.startsWith('HTTP/1.1 401 ')),
    );
    // Others are served while all of the slow ones are still there.
    let servedBeside = 0;
    for (let index = 0; index < 20; index++) {
      expect((await service.call('GET', '/prompts')).status).toBe(200);
      if (![...headers, ...bodies].some(({ closed }) => closed)) servedBeside += 1;
    }
    expect(servedBeside).toBeGreaterThan(0);

    await waitFor('the slow ones to be told', async () =>
      [...headers, ...bodies].every(({ answer }) => answer.startsWith('HTTP/1.1 400 ')),
    );
    for (const { answer } of [...headers, ...bodies])
      expect(answer).toMatch(/"The (request took too long to arrive|body arrived too slowly)/);
    // Callers that keep sending after any response are eventually cut off.
    await waitFor('those to be cut off who were told first', async () =>
      [...headers, ...strangers].every(({ closed }) => closed),
    );
    expect((await service.call('GET', '/prompts')).status).toBe(200);
  } finally {
    for (const slow of all) slow.destroy();
  }
});

test('a connection without a request is closed without an answer', async () => {
  const idle = sendSlowly('', '');
  await waitFor('it to be closed', async () => idle.closed);
  expect(idle.answer).toBe('');
});

test('connections per address are limited, and closing some allows others', async () => {
  const idle = Array.from({ length: 500 }, () => sendSlowly('', ''));
  try {
    await waitFor('the surplus to be closed', async () => idle.filter(({ closed }) => closed).length >= 100);
    expect(idle.filter(({ closed }) => closed).length).toBeLessThan(110);
    for (const slow of idle) slow.destroy();
    await waitFor('others to be let in', async () => {
      const answer = await service.call('GET', '/prompts').catch(() => undefined);
      return answer?.status === 200;
    });
  } finally {
    for (const slow of idle) slow.destroy();
  }
});
