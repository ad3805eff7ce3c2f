import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { startHelper } from './child.ts';
import type { Means } from './means.ts';
import { type Arrivals, type Receiver, startReceiver } from './receiver-questions.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { type Service, startService } from './service.ts';
import { median } from './statistics.ts';

const RECEIVER_MS = 50;
const EVENTS = 1_000;
const ALONE = 20;
const ROUNDS = 3;
const KILLS = 3;
/** The service is killed after this many events have arrived. */
const KILL_AFTER = 300;
/** Duplicates arrive when the claims of a killed process have expired. */
const QUIET_MS = 20_000;
/** Concurrent starts of bare workflows. */
const STARTS_AT_ONCE = 20;

const Begun = z.object({ begunAt: z.number() });
const now = () => performance.timeOrigin + performance.now();

/** Writes events like the service, all in one transaction. @returns the time just before */
async function writeEvents(database: pg.Client, count: number): Promise<number> {
  const begunAt = now();
  await database.query(
    `with written as (
       insert into events (workspace_id, id, type, data, created_at)
       select id, gen_random_uuid(), 'prompt.created', '{"prompt_name":"bench","version":1}', now()
       from workspaces, generate_series(1, $1) where name = 'default'
     ) select pg_notify('event_written', '')`,
    [count],
  );
  return begunAt;
}

const secondsFrom = (begunAt: number, { firstAt }: Arrivals) => ((firstAt.at(-1) ?? Number.NaN) - begunAt) / 1000;

/** One by one, each when the previous one has arrived. @returns milliseconds until each arrived */
async function latencies(receiver: Receiver, begin: () => Promise<number>): Promise<number[]> {
  const values: number[] = [];
  for (let turn = 0; turn < ALONE; turn += 1) {
    await receiver.forget();
    const begunAt = await begin();
    const { firstAt } = await receiver.arrivals(1);
    values.push((firstAt[0] ?? Number.NaN) - begunAt);
    // Time for the response, and for the writes after it.
    await delay(4 * RECEIVER_MS);
  }
  return values;
}

/** Kills the service while it delivers, and restarts it. */
async function killAndRecover(
  service: Service,
  restart: () => Promise<Service>,
  receiver: Receiver,
  database: pg.Client,
): Promise<{ service: Service; lost: number; duplicates: number; nextMs: number; allSeconds: number }> {
  await receiver.forget();
  await writeEvents(database, EVENTS);
  await receiver.arrivals(KILL_AFTER);
  process.kill(service.pid, 'SIGKILL');
  const killedAt = now();
  const next = await restart();
  const { firstAt, requests } = await receiver.arrivals(EVENTS, QUIET_MS);
  // Requests already on their way when the process was killed are not part of the recovery.
  const afterwards = firstAt.filter((at) => at > killedAt + RECEIVER_MS);
  return {
    service: next,
    lost: EVENTS - firstAt.length,
    duplicates: requests - firstAt.length,
    nextMs: (afterwards[0] ?? Number.NaN) - killedAt,
    allSeconds: ((firstAt.at(-1) ?? Number.NaN) - killedAt) / 1000,
  };
}

/**
 * Delivering events (an outbox in PostgreSQL, signed requests, each attempt recorded) compared with the minimum for durability:
 * a Temporal workflow of one activity, without database and signatures. Same Temporal, same receiver, in turns. Then the
 * service is killed midway and restarted.
 */
export async function measureWebhooks(servers: Servers, { profileFolder, rounds = ROUNDS }: Means): Promise<Outcome> {
  const receiver = await startReceiver(RECEIVER_MS);
  let service = await startService(servers, {}, profileFolder);
  const bare = await startHelper('bare/deliver.ts', [servers.temporalAddress, receiver.url]);
  const database = new pg.Client(servers.databaseUrl);
  await database.connect();
  try {
    await service.call('POST', '/webhooks', { url: receiver.url });
    const startBare = async (count: number) => (await bare.ask({ atOnce: STARTS_AT_ONCE, count }, Begun)).begunAt;
    const contenders = {
      service: (count: number) => writeEvents(database, count),
      bare: startBare,
    };
    const names = ['service', 'bare'] as const;
    const allAtOnce = async (name: (typeof names)[number], count: number) => {
      await receiver.forget();
      const begunAt = await contenders[name](count);
      return secondsFrom(begunAt, await receiver.arrivals(count, 4 * RECEIVER_MS));
    };
    for (const name of names) await allAtOnce(name, 200);

    const waitMs = { service: [] as number[], bare: [] as number[] };
    const perSecond = { service: [] as number[], bare: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      for (const name of names) waitMs[name].push(median(await latencies(receiver, () => contenders[name](1))));
      for (const name of names) perSecond[name].push(EVENTS / (await allAtOnce(name, EVENTS)));
    }

    const recoveries: Awaited<ReturnType<typeof killAndRecover>>[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const restart = () => startService(servers);
      const recovery = await killAndRecover(service, restart, receiver, database);
      service = recovery.service;
      recoveries.push(recovery);
    }
    return {
      benchmark: `webhooks (a receiver of ${RECEIVER_MS} ms)`,
      rows: [
        row('from commit to the first attempt, idle: p50', 'ms', waitMs.service, { atMost: 50 }),
        row('bare workflow: from its start to the attempt', 'ms', waitMs.bare),
        row(
          'service above bare',
          'ms',
          waitMs.service.map((value, round) => value - (waitMs.bare[round] ?? Number.NaN)),
          { below: 50 },
        ),
        row(`${EVENTS} events at once`, '/s', perSecond.service),
        row('bare workflow', '/s', perSecond.bare),
        ratioRow('service to bare', perSecond.service, perSecond.bare, { atLeast: 4 }),
        row(
          'killed in the middle: events lost',
          '',
          recoveries.map(({ lost }) => lost),
          { atMost: 0 },
        ),
        row(
          'killed: events sent twice',
          '',
          recoveries.map(({ duplicates }) => duplicates),
        ),
        row(
          'killed: until the next event arrived',
          'ms',
          recoveries.map(({ nextMs }) => nextMs),
        ),
        row(
          'killed: until all had arrived',
          's',
          recoveries.map(({ allSeconds }) => allSeconds),
        ),
      ],
    };
  } finally {
    await database.end();
    await bare.stop();
    await service.stop();
    await receiver.stop();
  }
}
