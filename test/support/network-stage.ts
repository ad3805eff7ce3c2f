import { randomBytes } from 'node:crypto';
import { chooseProcesses, KEY, type Processes } from './fault-stage.ts';
import type { Started } from './processes.ts';
import { type ProviderProcess, startProvider } from './processes-service.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { createCall } from './service.ts';

/** Pairs of processes, each with a proxy between them. */
export const LINKS = [
  'API – PostgreSQL',
  'API – Temporal',
  'worker – PostgreSQL',
  'worker – Temporal',
  'worker – provider',
  'worker – receiver',
  'caller – API',
] as const;
export type Link = (typeof LINKS)[number];

/** A proxy before a server. */
export interface Before {
  port: number;
}

/** One API and one worker, with a model and a receiver; each connection goes through a separate proxy. */
export interface NetworkStage<Proxy extends Before> {
  links: Record<Link, Proxy>;
  /** Through the proxy before the API. */
  origin: string;
  /** Past it. */
  call: Processes['call'];
  model: ProviderProcess;
  receiver: Receiver;
  api: Started;
  worker: Started;
  /** `killOrphans` ends the model's server. */
  end(): Promise<void>;
}

export interface NetworkStageOptions<Proxy extends Before> {
  databaseUrl: string;
  /** host:port */
  temporalAddress: string;
  /** The response time of the model. */
  modelMs: number;
  /** @param target host:port */
  before: (name: string, target: string) => Promise<Proxy>;
  env?: Record<string, string>;
}

/** The prompt of the load. */
export const PROMPT = 'network';

/** Starts everything, creates the prompt, and subscribes the receiver to completed executions. */
export async function startNetworkStage<Proxy extends Before>({
  databaseUrl,
  temporalAddress,
  modelMs,
  before,
  env = {},
}: NetworkStageOptions<Proxy>): Promise<NetworkStage<Proxy>> {
  const model = await startProvider('openai', ['--latency', String(modelMs)]);
  const receiver = await startReceiver();
  const toDatabase = async (name: Link) => {
    const url = new URL(databaseUrl);
    const proxy = await before(name, url.host);
    url.host = `127.0.0.1:${proxy.port}`;
    return { proxy, url: url.href };
  };
  const [apiDatabase, workerDatabase] = [await toDatabase('API – PostgreSQL'), await toDatabase('worker – PostgreSQL')];
  const apiTemporal = await before('API – Temporal', temporalAddress);
  const workerTemporal = await before('worker – Temporal', temporalAddress);
  const provider = await before('worker – provider', new URL(model.baseUrl).host);
  const hook = await before('worker – receiver', new URL(receiver.url).host);
  const processes = await chooseProcesses({
    databaseUrl,
    temporalAddress,
    env: {
      OPENAI_API_KEY: 'x',
      OPENAI_BASE_URL: `http://127.0.0.1:${provider.port}/v1`,
      WEBHOOK_ALLOW_PRIVATE: 'loopback',
      WEBHOOK_RETRY_WAITS: '2s,4s,8s,16s,32s',
      TEMPORAL_TASK_QUEUE_PREFIX: `network-${randomBytes(4).toString('hex')}`,
      ...env,
    },
  });
  const through = (database: { url: string }, temporal: Proxy) => ({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
  });
  const api = await processes.startApi(through(apiDatabase, apiTemporal));
  const worker = await processes.startWorker(through(workerDatabase, workerTemporal));
  const caller = await before('caller – API', new URL(processes.origin).host);
  const call = createCall(processes.origin, KEY);
  const made = await call('POST', '/prompts', {
    body: { name: PROMPT, template: 'Say {{ text }}', model: 'openai/gpt-4o-mini' },
  });
  const url = `http://127.0.0.1:${hook.port}/hook`;
  const hooked = await call('POST', '/webhooks', { body: { url, events: ['execution.completed'] } });
  if (made.status !== 201 || hooked.status !== 201)
    throw new Error(`The stage was not set: ${JSON.stringify([made.body, hooked.body])}`);
  return {
    links: {
      'API – PostgreSQL': apiDatabase.proxy,
      'API – Temporal': apiTemporal,
      'worker – PostgreSQL': workerDatabase.proxy,
      'worker – Temporal': workerTemporal,
      'worker – provider': provider,
      'worker – receiver': hook,
      'caller – API': caller,
    },
    origin: `http://127.0.0.1:${caller.port}`,
    call,
    model,
    receiver,
    api,
    worker,
    async end() {
      await Promise.all([api.killTree(), worker.killTree()]);
      await receiver.close();
    },
  };
}
