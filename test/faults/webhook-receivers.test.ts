import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AT_FULL_SIZE, sized, tell } from '../support/fault-runs.ts';
import {
  createScene,
  expectRecorded,
  inFlight,
  secondsSince,
  tally,
  type WebhookStage,
} from '../support/fault-webhooks.ts';
import { freePorts, type Started } from '../support/processes.ts';
import { answering, type Respond } from '../support/receiver.ts';
import { createTurns } from '../support/turns.ts';
import { until } from '../support/wait-for.ts';

/** Per process and host. At full size some are deferred when their worker is killed, and come back only after 30 s. */
const HOST_CONCURRENCY = AT_FULL_SIZE ? 20 : 50;
/** Enough retries for any outage, and rare enough to leave room for first attempts. */
const MANY_RETRIES = Array.from({ length: 50 }, () => (AT_FULL_SIZE ? '30s' : '5s')).join(',');

const scene = createScene();
let stage: WebhookStage;
/** The only one at the start of a test. */
let worker: Started;

beforeAll(async () => {
  stage = await scene.stage({
    WEBHOOK_TIMEOUT: '10s',
    WEBHOOK_RETRY_WAITS: MANY_RETRIES,
    WEBHOOK_HOST_CONCURRENCY: String(HOST_CONCURRENCY),
  });
  worker = await stage.startWorker();
});
afterAll(() => scene.end());
// Deliveries to a webhook end with its test.
const inTurn = createTurns(() => stage.query({ text: `update webhooks set status = 'disabled'` }));

/** Does something to an answer for as long as its connection is open. */
function goOn(response: ServerResponse, everyMs: number, step: () => void): void {
  const timer = setInterval(step, everyMs);
  response.on('close', () => clearInterval(timer));
}

/** Writes as fast as it is read. */
function flood({ socket }: IncomingMessage, chunk: Buffer, bytes: number): void {
  let left = bytes;
  const write = () => {
    while (left > 0 && !socket.destroyed) {
      left -= chunk.length;
      if (!socket.write(chunk)) {
        socket.once('drain', write);
        return;
      }
    }
  };
  socket.on('error', () => {});
  write();
}

const HUGE = 200 * 1024 * 1024;

/** By behavior; the trap is the target of a redirect. */
function hostileReceivers(
  trap: string,
): Record<string, { respond: Respond; status: number | null; error: string | null }> {
  const outOfTime = { status: null, error: 'timed out after 10 s' };
  return {
    'closes half-way': {
      respond: (_request, response) => {
        response.writeHead(200, { 'Content-Length': 100 });
        response.write('half of it', () => response.destroy());
      },
      status: null,
      error: 'the connection was closed before the response was complete',
    },
    'answers 200 MB': {
      respond: (_request, _response, incoming) => {
        incoming.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${HUGE}\r\n\r\n`);
        flood(incoming, Buffer.alloc(64 * 1024, 'x'), HUGE);
      },
      status: 200,
      error: null,
    },
    'sends headers for ever': {
      respond: (_request, _response, incoming) => {
        incoming.socket.write('HTTP/1.1 200 OK\r\n');
        flood(incoming, Buffer.from(`X-More: ${'x'.repeat(1_000)}\r\n`), HUGE);
      },
      status: null,
      error: 'the response headers are too large',
    },
    'drips headers': {
      respond: (_request, response, incoming) => {
        incoming.socket.write('HTTP/1.1 200 OK\r\n');
        incoming.socket.on('error', () => {});
        goOn(response, 100, () => incoming.socket.write('X-More: x\r\n'));
      },
      ...outOfTime,
    },
    'drips its answer': {
      respond: (_request, response) => {
        response.writeHead(200);
        goOn(response, 100, () => response.write('.'));
      },
      ...outOfTime,
    },
    'never answers': { respond: () => {}, ...outOfTime },
    redirects: {
      respond: (_request, response) => void response.writeHead(301, { Location: trap }).end(),
      status: 301,
      error: 'HTTP 301 (redirects are not followed)',
    },
  };
}

// Mostly waits, so it runs concurrently with the others on its own stage.
test.concurrent('misbehaving receivers harm only their own deliveries, which say why they failed', async () => {
  const own = await scene.stage({ WEBHOOK_TIMEOUT: '10s', WEBHOOK_RETRY_WAITS: '1h' });
  const ownWorker = await own.startWorker();
  const [trap, healthy] = await Promise.all([scene.receiver(), scene.receiver()]);
  const hostile = await Promise.all(
    Object.entries(hostileReceivers(trap.url)).map(async ([name, expected]) => {
      const receiver = await scene.receiver(expected.respond);
      return { name, expected, receiver, webhook: await own.rows.webhook({ url: receiver.url }) };
    }),
  );
  const webhook = await own.rows.webhook({ url: healthy.url });
  const events = await own.rows.events(10);
  await own.untilStatus(webhook, 'delivered', events.length);
  expect(healthy.received).toHaveLength(events.length);
  const right = await own.rows.deliveries(webhook);
  expect(right.map(({ attempts }) => attempts.length)).toEqual(events.map(() => 1));
  for (const each of hostile) {
    const { status, error } = each.expected;
    await own.untilStatus(each.webhook, error === null ? 'delivered' : 'waiting', events.length);
    const rows = await own.rows.deliveries(each.webhook);
    const attempts = rows.flatMap((row) =>
      row.attempts.map((made) => [each.name, made.status, made.error, row.status_reason]),
    );
    expect(attempts).toEqual(events.map(() => [each.name, status, error, error]));
    expect(each.receiver.received).toHaveLength(events.length);
  }
  expect(trap.received).toEqual([]);
  expect(ownWorker.output()).not.toMatch(/unhandled|"level":60/);
});

/** Events whose receiver is down: each has been attempted. Nothing listens on `port`. */
async function outage() {
  const [port = 0] = await freePorts(1);
  const webhook = await stage.rows.webhook({ url: `http://127.0.0.1:${port}/hook` });
  const events = await stage.rows.events(sized(50));
  await stage.untilStatus(webhook, 'waiting', events.length);
  return { port, webhook, events };
}

test.concurrent('events written while their receiver was down arrive, once each', () =>
  inTurn(async () => {
    const { port, webhook, events } = await outage();
    const receiver = await scene.receiver(answering(200), port);
    const upAt = Date.now();
    await stage.untilStatus(webhook, 'delivered', events.length);
    const { lost, duplicates } = tally(receiver.received, events);
    tell(`receiver down, ${events.length} events: ${lost} lost, ${duplicates} duplicates, ${secondsSince(upAt)} s`);
    expect({ lost, duplicates }).toEqual({ lost: 0, duplicates: 0 });
    expect(receiver.received).toHaveLength(events.length);
    const deliveries = await stage.rows.deliveries(webhook);
    expectRecorded(receiver.received, deliveries);
    const refused = deliveries.flatMap(({ attempts }) => attempts.filter(({ status }) => status === null));
    expect(new Set(refused.map(({ error }) => error))).toEqual(new Set(['connection refused']));
  }));

test.concurrent('events arrive after an outage of their receiver, even if the worker is killed repeatedly', () =>
  inTurn(async () => {
    const { port, webhook, events } = await outage();
    // Enough in flight at every moment that each kill hits some.
    const receiver = await scene.receiver((_request, response) => {
      setTimeout(() => response.writeHead(200).end(), 200);
    }, port);
    const upAt = Date.now();
    const kills = AT_FULL_SIZE ? 3 : 1;
    let hit = 0;
    for (let kill = 1; kill <= kills; kill += 1) {
      const enough = (events.length * kill) / (kills + 1);
      await until('some have come', async () => receiver.received.length >= enough);
      await worker.killTree();
      await receiver.disconnected();
      hit += inFlight(receiver.received, await stage.rows.deliveries(webhook));
      worker = await stage.startWorker();
    }
    await stage.untilStatus(webhook, 'delivered', events.length);
    const { lost, duplicates } = tally(receiver.received, events);
    tell(
      `receiver down, ${events.length} events, worker killed ${kills} times: ${lost} lost, ${duplicates} duplicates ` +
        `(${hit} were in flight), ${secondsSince(upAt)} s`,
    );
    expect(lost).toBe(0);
    expect(duplicates).toBeLessThanOrEqual(hit);
    expectRecorded(receiver.received, await stage.rows.deliveries(webhook));
    await stage.untilEnded(webhook, events.length);
  }));

test.concurrent('a slow receiver with many deliveries delays none to another one', () =>
  inTurn(async () => {
    const slow = await scene.receiver(() => {});
    const healthy = await scene.receiver();
    const slowWebhook = await stage.rows.webhook({ url: slow.url, events: ['prompt.created'] });
    const webhook = await stage.rows.webhook({ url: healthy.url, events: ['execution.completed'] });
    // More than a process starts for one workspace at a time.
    const queued = await stage.rows.events(150);
    await until('all of the slow ones are claimed, or were', async () => {
      const text = 'select from deliveries where webhook_id = $1 and (claimed_at is not null or attempts_made > 0)';
      return (await stage.query({ text }, [slowWebhook])).length === queued.length;
    });
    await stage.rows.event('execution.completed');
    await healthy.got(1);
    tell(`slow receiver: another one was served when ${slow.received.length} of ${queued.length} had been sent to it`);
    expect(slow.received.length).toBeLessThan(queued.length);
    await stage.untilStatus(webhook, 'delivered', 1);
    await stage.untilStatus(slowWebhook, 'waiting', HOST_CONCURRENCY);
    const tried = (await stage.rows.deliveries(slowWebhook)).flatMap(({ attempts }) => attempts);
    expect(new Set(tried.map(({ error }) => error))).toEqual(new Set(['timed out after 10 s']));
  }));
