import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { answerQuestions } from './child.ts';
import { type Arrivals, ReceiverQuestion } from './receiver-questions.ts';

/** Longer than any retry of a first attempt takes. */
const GIVE_UP_AFTER_MS = 120_000;
/** The response time. */
const answerMs = Number(process.argv[2]);

/** First arrival of each id, in milliseconds since 1970. */
let firstAt = new Map<string, number>();
let requests = 0;
let lastAt = 0;
let wake = () => {};

const server = createServer((incoming, response) => {
  lastAt = performance.timeOrigin + performance.now();
  requests += 1;
  const id = String(incoming.headers['x-event-id']);
  if (!firstAt.has(id)) firstAt.set(id, lastAt);
  wake();
  incoming.resume().once('end', () => setTimeout(() => response.writeHead(200).end(), answerMs));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;

async function untilArrived(count: number, quietMs: number): Promise<void> {
  const askedAt = performance.timeOrigin + performance.now();
  const quietForMs = () => performance.timeOrigin + performance.now() - Math.max(lastAt, askedAt);
  // Lost events never arrive.
  while (firstAt.size < count && quietForMs() < GIVE_UP_AFTER_MS)
    await Promise.race([new Promise<void>((resolve) => (wake = resolve)), delay(1_000)]);
  // Duplicates may arrive a little later.
  while (performance.timeOrigin + performance.now() - lastAt < quietMs) await delay(50);
}

answerQuestions(ReceiverQuestion, async (asked): Promise<Arrivals | { port: number }> => {
  if (asked.what === 'port') return { port };
  if (asked.what === 'forget') {
    firstAt = new Map();
    requests = 0;
  } else await untilArrived(asked.count, asked.quietMs);
  return { requests, firstAt: [...firstAt.values()].sort((a, b) => a - b) };
});
