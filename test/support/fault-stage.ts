import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { z } from 'zod';
import { freePorts, killOrphans, type Started, startProcess } from './processes.ts';
import { type ProviderProcess, startProvider } from './processes-service.ts';
import { promptKey } from './providers/stand-in.ts';
import { type Call, createCall } from './service.ts';
import { until } from './wait-for.ts';

const { PENDING_ACTIVITY_STATE_STARTED } = proto.temporal.api.enums.v1.PendingActivityState;
/** A key of the workspace `default` with all scopes. */
export const KEY = 'pms_faults-0123456789abcdef';

/** API and workers, each a separate process that a test can kill. */
export interface Processes {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  call: Call;
  /** Requests with another key than the first. */
  callWith(key: string): Call;
  /** @param env settings over those of all */
  startApi(env?: Record<string, string>): Promise<Started>;
  startWorker(env?: Record<string, string>): Promise<Started>;
  /** Both in one process, like `npm start`. @param dataDir for its secrets */
  startBoth(dataDir: string): Promise<Started>;
}

/** These and a model's server. */
export interface Stage extends Processes {
  model: ProviderProcess;
  /** The process that works on a batch of a run; undefined if there is none. */
  workerOf(workflowId: string): Promise<number | undefined>;
  /** The number of the current attempt at a batch of a run, from 1; 0 if there is none. */
  attemptOf(workflowId: string): Promise<number>;
  /** Ends every process. */
  end(): Promise<void>;
}

export interface ProcessesOptions {
  databaseUrl: string;
  /** host:port */
  temporalAddress: string;
  /** Settings over the stage's own. */
  env?: Record<string, string>;
  /** Node.js flags of the API and of workers. */
  nodeFlags?: (process: 'api' | 'worker') => string[];
}

export interface StageOptions extends ProcessesOptions {
  /** The response time of the model's server. */
  latencyMs: number;
}

/** Picks a port and task queues; API and workers are the test's to start. */
export async function chooseProcesses({
  databaseUrl,
  temporalAddress,
  env = {},
  nodeFlags = () => [],
}: ProcessesOptions): Promise<Processes> {
  const [port] = await freePorts(1);
  const environment = {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_TASK_QUEUE_PREFIX: `faults-${randomBytes(4).toString('hex')}`,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    BOOTSTRAP_API_KEY: KEY,
    PORT: String(port),
    METRICS_PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    RECONCILE_EVERY: '1s',
    ...env,
  };
  const start = async (script: string, flags: string[], ready: RegExp, over: Record<string, string> = {}) => {
    const started = startProcess([process.execPath, ...flags, script], { env: { ...environment, ...over } });
    await started.says(ready);
    return started;
  };
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    call: createCall(origin, KEY),
    callWith: (key) => createCall(origin, key),
    startApi: (over) => start('src/api/server.ts', nodeFlags('api'), /API listening on/, over),
    startWorker: (over) => start('src/worker.ts', nodeFlags('worker'), /workers started/, over),
    startBoth: (dataDir) => start('src/main.ts', [], /Ctrl-C stops everything/, { DATA_DIR: dataDir }),
  };
}

/** Picks ports and starts the model's server; API and workers are the test's to start. */
export async function setStage({ latencyMs, env = {}, ...servers }: StageOptions): Promise<Stage> {
  const model = await startProvider('openai', ['--latency', String(latencyMs)]);
  const processes = await chooseProcesses({
    ...servers,
    env: { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: model.baseUrl, ...env },
  });
  const connection = Connection.lazy({ address: servers.temporalAddress });
  const batchOf = async (workflowId: string) => {
    const { raw } = await new Client({ connection }).workflow.getHandle(workflowId).describe();
    return raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'runBatch');
  };
  return {
    ...processes,
    model,
    async workerOf(workflowId) {
      const batch = await batchOf(workflowId);
      // The SDK's identity of a worker is PID@HOST.
      return batch?.state === PENDING_ACTIVITY_STATE_STARTED
        ? Number.parseInt(batch.lastWorkerIdentity ?? '', 10)
        : undefined;
    },
    attemptOf: async (workflowId) => (await batchOf(workflowId))?.attempt ?? 0,
    async end() {
      await killOrphans();
      await connection.close();
    },
  };
}

const Calls = z.object({ by_prompt: z.record(z.string(), z.number()) });

/** How often a model's server was sent each of these prompts. */
export async function callsOf(model: ProviderProcess, prompts: readonly string[]): Promise<number[]> {
  const answer = await fetch(new URL('/__calls', model.baseUrl));
  const byPrompt = Calls.parse(await answer.json()).by_prompt;
  return prompts.map((prompt) => byPrompt[promptKey(prompt)] ?? 0);
}

/** Waits until a model's server has received that many of these prompts. */
export async function untilCalled(model: ProviderProcess, prompts: readonly string[], count: number): Promise<void> {
  await until(
    `${count} prompts at the model's server`,
    async () => (await callsOf(model, prompts)).filter((calls) => calls > 0).length >= count,
  );
}

/** Sets how a model's server misbehaves from now on. */
export async function behave(model: Pick<ProviderProcess, 'baseUrl'>, behaviour: object): Promise<void> {
  await fetch(new URL('/__behave', model.baseUrl), { method: 'POST', body: JSON.stringify(behaviour) });
}

/** Whether a process is there, frozen or not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
