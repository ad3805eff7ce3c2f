import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createApiKey, generateApiKey, SCOPES } from '../../src/services/access/api-keys.ts';
import { createWorkspace } from '../../src/services/workspaces/workspaces.ts';
import { createTestDatabase } from './database.ts';
import { callsOf, chooseProcesses, KEY } from './fault-stage.ts';
import type { HostileRow } from './hostile-report.ts';
import { type Fared, type Neighbour, PROBES, startNeighbour } from './neighbour.ts';
import { killOrphans, type Started } from './processes.ts';
import { makePrompt, type ProviderProcess, startProvider } from './processes-service.ts';
import type { Call } from './service.ts';
import { waitFor } from './wait-for.ts';

/** As by hand: everything at full strength, and the bounds that are promised for a quiet machine. */
export const AT_FULL_SIZE = process.env['HOSTILE_AT_FULL_SIZE'] === 'true';
/** A folder for CPU profiles of API and worker. */
const PROFILE_FOLDER = process.env['HOSTILE_PROFILES'];

/** Limits for the additional delay of another workspace's requests, and for the memory of a process. */
const MAX_DELAY_MS = 1_000;
const MAX_MIB = 1_024;
const OFF_HEAP_MIB = 512;
const IDLE_MS = AT_FULL_SIZE ? 10_000 : 1_000;
/** A pace that a busy machine can keep up with, too. */
const PACE = AT_FULL_SIZE
  ? { readEveryMs: 100, runEveryMs: 250, aftermathMs: 2_000 }
  : { readEveryMs: 250, runEveryMs: 500, aftermathMs: 0 };

/** The size of a hostile act: full, or reduced for everyday runs. */
export const sized = (full: number, reduced: number): number => (AT_FULL_SIZE ? full : reduced);

/** API and a worker as processes, a hostile workspace, and a normal one next to it. */
export interface HostileStage {
  /** Requests of the hostile workspace. */
  call: Call;
  /** Reads a response to its end, discarding it. @returns its status */
  readAway(path: string): Promise<number>;
  /** Never responds. */
  stalling: ProviderProcess;
  /** Responds immediately. A call is 1,000 tokens of input and as many of output. */
  quick: ProviderProcess;
  db: Database;
  workspaceId: string;
  /** Does something hostile, measures how the other workspace fares, and expects it to be unharmed. */
  act(name: string, hostile: () => Promise<void>): Promise<void>;
  /** The measurements so far. */
  rows: HostileRow[];
  end(): Promise<void>;
}

const peakMiB = ({ pid }: Started) =>
  Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);
/** From now on the peak is that from now on. */
const forgetPeak = ({ pid }: Started) => writeFileSync(`/proc/${pid}/clear_refs`, '5');

function worstOf({ delays }: Fared): number {
  return Math.max(...PROBES.map((probe) => delays[probe].worstMs));
}

/** The largest median of the probes. */
function medianOf({ delays }: Fared): number {
  return Math.max(...PROBES.map((probe) => delays[probe].medianMs));
}

/**
 * Starts everything.
 * @param options.heapMiB the maximum heap of API and worker each. Default: that of Node.js
 * @param options.env additional settings
 */
export async function setHostileStage({
  heapMiB,
  env = {},
}: {
  heapMiB?: number;
  env?: Record<string, string>;
} = {}): Promise<HostileStage> {
  const cleanUps: (() => Promise<unknown>)[] = [];
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  const [quick, stalling] = await Promise.all([
    startProvider('openai', ['--tokens', '1000']),
    startProvider('openai', ['--mode', 'stall']),
  ]);
  const processes = await chooseProcesses({
    databaseUrl: database.url,
    temporalAddress: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    env: {
      OPENAI_API_KEY: 'x',
      OPENAI_BASE_URL: quick.baseUrl,
      OPENAI_COMPATIBLE_BASE_URL: stalling.baseUrl,
      WEBHOOK_ALLOW_PRIVATE: 'loopback',
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      ...env,
    },
    nodeFlags: (name) => [
      '--max-semi-space-size=32',
      ...(heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`]),
      ...(PROFILE_FOLDER === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${PROFILE_FOLDER}/${name}`]),
    ],
  });
  const [api, worker] = await Promise.all([processes.startApi(), processes.startWorker()]);
  /** Rejects if one of them ends unexpectedly. */
  const oneEnded = Promise.race(
    [api, worker].map(async ({ ended }): Promise<never> => {
      const { code, signal, output } = await ended;
      throw new Error(`A process has ended (${signal ?? code}):\n${output.slice(-4_000)}`);
    }),
  );
  oneEnded.catch(() => {});
  const db = await openDatabase(database.url, { poolSize: 5 });
  cleanUps.push(() => db.close());
  const [hostile] = await db.system.query<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
  const { id } = await createWorkspace(db.system, 'neighbour', 'neighbour@example.test');
  const key = generateApiKey();
  const permissions = { name: 'neighbour', scopes: [...SCOPES], expiresAt: null };
  await db.workspace(id).transaction((query) => createApiKey(query, key, permissions));
  await makePrompt(processes.callWith(key), 'probe', 'openai/gpt-4o-mini');
  const neighbour = await startNeighbour(processes.origin, key, 'probe', PACE);
  const idle = await idleDelay(neighbour);
  // In unmeasured runs the machine may be busy: waiting for the hostile workspace took longer than this.
  const tooSlow = AT_FULL_SIZE ? MAX_DELAY_MS : 10 * MAX_DELAY_MS + 20 * idle;
  const slowness = AT_FULL_SIZE ? worstOf : medianOf;
  // Buffers and threads are outside the heap.
  const maxMiB = Math.max(MAX_MIB, (heapMiB ?? 0) + OFF_HEAP_MIB);
  const rows: HostileRow[] = [];

  return {
    call: processes.call,
    async readAway(path) {
      const response = await fetch(`${processes.origin}/v1${path}`, { headers: { Authorization: `Bearer ${KEY}` } });
      for await (const _ of response.body ?? []);
      return response.status;
    },
    stalling,
    quick,
    db,
    workspaceId: hostile?.id ?? '',
    rows,
    async act(name, act) {
      // Leftovers of the previous act do not count for this one.
      await Promise.race([
        waitFor('the neighbour to fare well', async () => slowness(await neighbour.during(() => delay(0))) < tooSlow),
        oneEnded,
      ]);
      for (const each of [api, worker]) forgetPeak(each);
      const fared = await Promise.race([neighbour.during(act), oneEnded]);
      const calls = await callsOf(quick, fared.prompts);
      const row: HostileRow = {
        act: name,
        delays: fared.delays,
        apiMiB: peakMiB(api),
        workerMiB: peakMiB(worker),
        callsNeeded: fared.prompts.length,
        callsPaid: calls.reduce((sum, count) => sum + count, 0),
      };
      rows.push(row);
      expect(fared.problems).toEqual([]);
      expect(row.callsPaid).toBe(row.callsNeeded);
      const worst = { slow: slowness(fared) >= tooSlow, large: Math.max(row.apiMiB, row.workerMiB) >= maxMiB };
      expect({ ...row, tooSlow, ...worst }).toEqual({ ...row, tooSlow, slow: false, large: false });
    },
    async end() {
      await neighbour.stop();
      if (PROFILE_FOLDER !== undefined) {
        // Profiles are written at an orderly end.
        for (const each of [api, worker]) each.kill('SIGTERM');
        await Promise.race([Promise.all([api.ended, worker.ended]), delay(20_000, undefined, { ref: false })]);
      }
      await killOrphans();
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    },
  };
}

/** The worst delay while nothing hostile is done. */
async function idleDelay(neighbour: Neighbour): Promise<number> {
  // First runs take longer.
  await neighbour.during(() => delay(0));
  return worstOf(await neighbour.during(() => delay(IDLE_MS)));
}
