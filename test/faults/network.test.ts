import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase } from '../support/database.ts';
import { type Fault, faultsOf, runCell } from '../support/network-cell.ts';
import { type NetworkStage, startNetworkStage } from '../support/network-stage.ts';
import { killOrphans } from '../support/processes.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import { PATIENCE_MS } from '../support/wait-for.ts';

// The worst faults of `npm run check:network`, without Toxiproxy. The script measures the time of recovery; here recovery must
// only happen.

/** Longer than connections take to establish. */
const FAULT_MS = 6_000;
const AFTER_MS = 4_000;

let database: { url: string; drop(): Promise<void> };
let stage: NetworkStage<TcpProxy>;
const proxies: TcpProxy[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  stage = await startNetworkStage({
    databaseUrl: database.url,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    modelMs: 300,
    async before(_name, target) {
      const { hostname: host, port } = new URL(`tcp://${target}`);
      const proxy = await startProxy({ host, port: Number(port) });
      proxies.push(proxy);
      return proxy;
    },
  });
});
afterAll(async () => {
  await stage?.end();
  await killOrphans();
  for (const proxy of proxies) await proxy.close();
  await database?.drop();
});

const wrongAfter = async (fault: Omit<Fault, 'afterMs'>) =>
  faultsOf(await runCell(stage, { ...fault, afterMs: AFTER_MS }), PATIENCE_MS);

test('traffic from the API to PostgreSQL, and from there to workers, is delayed: nothing is lost', async () => {
  const [api, worker] = [stage.links['API – PostgreSQL'], stage.links['worker – PostgreSQL']];
  const begin = async () => {
    api.stall();
    worker.stallAnswers();
  };
  const end = async () => {
    api.restore();
    worker.restore();
  };
  expect(await wrongAfter({ begin, end, ms: FAULT_MS })).toEqual([]);
});

test('Temporal and the provider fall silent in mid-call: nothing is lost, and only calls in flight are repeated', async () => {
  const links = [stage.links['worker – Temporal'], stage.links['worker – provider'], stage.links['API – Temporal']];
  const begin = async () => {
    for (const link of links) link.stallAnswers();
  };
  const end = async () => {
    for (const link of links) link.restore();
  };
  expect(await wrongAfter({ begin, end, ms: FAULT_MS })).toEqual([]);
});

test('all connections to PostgreSQL are dropped without being closed: new ones replace them', async () => {
  const begin = async () => {
    stage.links['API – PostgreSQL'].strand();
    stage.links['worker – PostgreSQL'].strand();
  };
  expect(await wrongAfter({ begin, end: async () => {}, ms: 0 })).toEqual([]);
});
