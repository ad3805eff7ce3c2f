import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { freePorts, type Started, startNode, startProcess } from './processes.ts';
import { type Call, createCall } from './service.ts';
import { until } from './wait-for.ts';

/** The first key of every service that a test starts as a process. */
export const E2E_KEY = 'pms_end-to-end-0123456789';

/** The addresses and data folder of a service, the same for every restart. */
export interface Place {
  dataDir: string;
  /** Settings as the environment carries them. */
  env: Record<string, string>;
  origin: string;
  call: Call;
  remove(): Promise<void>;
}

/** Chooses ports and creates a data directory. */
export async function createTestEnvironment(env: Record<string, string> = {}): Promise<Place> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-e2e-'));
  const dataDir = path.join(folder, 'data');
  const [port, metricsPort, uiPort] = await freePorts(3);
  const origin = `http://127.0.0.1:${port}`;
  return {
    dataDir,
    origin,
    call: createCall(origin, E2E_KEY),
    env: {
      DATA_DIR: dataDir,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      TEMPORAL_UI_PORT: String(uiPort),
      BOOTSTRAP_API_KEY: E2E_KEY,
      ...env,
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** `npm start`, the command itself. */
export function npmStart({ env }: Pick<Place, 'env'>): Started {
  return startProcess(['npm', 'start'], { env });
}

/** `npm start` that is ready. */
export async function startedService(place: Place): Promise<Started> {
  const started = npmStart(place);
  await started.says(/Ctrl-C stops everything/);
  return started;
}

/** A stand-in for a provider as a separate process, whose counts outlive its callers. */
export interface ProviderProcess {
  /** In the form that its SDK expects. */
  baseUrl: string;
  /** Calls seen so far. */
  calls(): Promise<number>;
  /** Waits until that many calls have arrived. */
  called(count: number): Promise<void>;
}

const Counts = z.object({ count: z.number() });

/** @param args flags of test/support/providers/run.ts */
export async function startProvider(
  protocol: 'openai' | 'anthropic' | 'google',
  args: readonly string[] = [],
): Promise<ProviderProcess> {
  const started = startNode(`test/support/providers/${protocol}-main.ts`, {}, args);
  const [, port] = await started.says(/^(\d+)\n/);
  const origin = `http://127.0.0.1:${port}`;
  const calls = async () => Counts.parse(await (await fetch(`${origin}/__calls`)).json()).count;
  return {
    baseUrl: `${origin}/${protocol === 'google' ? 'v1beta' : 'v1'}`,
    calls,
    called: async (count) => {
      await until(`${count} calls of the model`, async () => (await calls()) >= count);
    },
  };
}

/** An execution's record once it has ended. */
export async function endedExecution(call: Call, id: string) {
  return until(`the end of ${id}`, async () => {
    const { body } = await call('GET', `/executions/${id}`);
    return ['completed', 'failed', 'canceled'].includes(body.status) ? body : undefined;
  });
}

/** Creates a prompt for a model, with one variable `name`. */
export async function makePrompt(call: Call, name: string, model: string): Promise<void> {
  const { status, body } = await call('POST', '/prompts', { body: { name, template: 'Greet {{ name }}.', model } });
  if (status !== 201) throw new Error(`The prompt was not made: ${JSON.stringify(body)}`);
}

/** Runs such a prompt without waiting for it. @returns the execution's id */
export async function runAsync(call: Call, promptName: string, name = 'Ada'): Promise<string> {
  const { status, body } = await call('POST', '/executions', {
    body: { prompt_name: promptName, variables: { name } },
    headers: { Prefer: 'respond-async' },
  });
  if (status !== 201) throw new Error(`The execution was not made: ${JSON.stringify(body)}`);
  return body.id;
}
