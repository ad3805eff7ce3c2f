import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { questionsOf, TEMPLATE, upload } from './evaluations.ts';
import type { Service } from './service.ts';
import type { SoakReceivers } from './soak-receivers.ts';

/** A piece of work, with its duration or failure. */
export interface Done {
  kind: string;
  /** Start time since the start of the soak, in milliseconds. */
  at: number;
  ms: number;
  error?: string;
}

/** Default number of executions per second. */
export const RATE = 3;
/** Executions per item of each other kind; items start whether or not earlier ones have ended. */
const EXECUTIONS_FOR_ONE = {
  execution: 1,
  stream: 6,
  record: 30,
  'page of the console': 3,
} as const;
type Kind = keyof typeof EXECUTIONS_FOR_ONE;
const RECORDS = 20;
const EXAMPLES = 100;
/** From the end of one to the start of the next: the time in which this many executions start. */
const EVALUATION_PAUSE = 60;
const RELEASE_PAUSE = 90;
const WATCH_MS = 250;
/** What the console repeatedly reads while its pages are open. */
const CONSOLE_PATHS = [
  '/me',
  '/prompts?limit=50',
  '/executions?limit=50',
  '/evaluations?limit=50',
  '/releases?limit=50',
  '/rules?limit=50',
  '/queues?limit=50',
  '/monitors?limit=50',
  '/webhooks?limit=50',
  '/events?limit=50',
  '/notifications?limit=20',
  '/usage',
  '/statistics/prompts?limit=1000',
  '/audit-log?limit=50',
  '/prompts/bench',
] as const;

/** End states of evaluations and releases. */
const ENDS = new Set(['completed', 'succeeded', 'failed', 'canceled', 'rolled_back']);

const Run = z.object({ id: z.string(), status: z.string() });
const Webhook = z.object({ id: z.string() });
const COMPLETED = /^event: execution\.completed$/m;

export interface SoakLoad {
  done: readonly Done[];
  /** Starts nothing more, and waits for everything in progress. */
  stop(): Promise<void>;
}

/** Creates the prompt, its two versions, the dataset and the webhooks. */
export async function prepareSoak(service: Service, receivers: SoakReceivers): Promise<{ hopelessId: string }> {
  const prompt = { name: 'bench', template: TEMPLATE, model: 'openai/gpt-4o-mini' };
  await service.call('POST', '/prompts', prompt);
  await service.call('POST', '/prompts', { ...prompt, template: `${TEMPLATE} Be brief.` });
  await service.call('PUT', '/prompts/bench/labels/production', { version: 1 });
  await upload(service, 'small', questionsOf(EXAMPLES));
  const events = ['execution.completed'];
  await service.call('POST', '/webhooks', { url: receivers.good, events });
  await service.call('POST', '/webhooks', { url: receivers.bad, events });
  const hopeless = { url: receivers.hopeless, events: ['evaluation.completed'] };
  return { hopelessId: Webhook.parse(await service.call('POST', '/webhooks', hopeless)).id };
}

/**
 * Works at a constant rate, rotating over the APIs, until it is stopped.
 * @param rate executions per second; all other work is in proportion
 */
export function startSoakLoad(
  apis: readonly Service[],
  hopelessId: string,
  startedAt: number,
  rate: number,
): SoakLoad & { note(done: Omit<Done, 'at'>): void } {
  const done: Done[] = [];
  const open = new Set<Promise<void>>();
  const timers: NodeJS.Timeout[] = [];
  const stopping = new AbortController();
  const pages = [...CONSOLE_PATHS, `/webhooks/${hopelessId}/deliveries?limit=50`];
  const executionsMs = (count: number) => (count / rate) * 1_000;
  const pause = (executions: number) =>
    delay(executionsMs(executions), undefined, { signal: stopping.signal }).catch(() => {});
  let turn = 0;
  let number = 0;

  function api(): Service {
    turn += 1;
    const next = apis[turn % apis.length];
    if (next === undefined) throw new Error('There are no APIs.');
    return next;
  }

  async function timed(kind: string, work: () => Promise<unknown>): Promise<void> {
    const begunAt = performance.now();
    const entry = { kind, at: begunAt - startedAt };
    try {
      await work();
      done.push({ ...entry, ms: performance.now() - begunAt });
    } catch (error) {
      done.push({ ...entry, ms: performance.now() - begunAt, error: String(error).slice(0, 500) });
    }
  }

  const track = (work: Promise<void>) => {
    open.add(work);
    void work.finally(() => open.delete(work));
  };

  const works: Record<Kind, () => Promise<unknown>> = {
    execution: async () => {
      number += 1;
      const body = { prompt_name: 'bench', label: 'production', variables: { number } };
      const { status } = Run.parse(await api().call('POST', '/executions', body));
      if (status !== 'completed') throw new Error(`An execution ended as ${status}.`);
    },
    stream: async () => {
      const { origin, key } = api();
      const response = await fetch(`${origin}/v1/executions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ prompt_name: 'bench', variables: { number: 1 } }),
      });
      const text = await response.text();
      if (!response.ok || !COMPLETED.test(text)) throw new Error(`A stream answered ${response.status}: ${text}`);
    },
    record: () => api().call('POST', '/executions/record', { records: recorded() }),
    'page of the console': async () => {
      const page = pages.shift() ?? '/me';
      pages.push(page);
      await api().call('GET', page);
    },
  };

  async function ended(path: string): Promise<string> {
    for (;;) {
      const { status } = Run.parse(await api().call('GET', path));
      if (ENDS.has(status)) return status;
      await delay(WATCH_MS);
    }
  }

  async function evaluateAgain(): Promise<void> {
    while (!stopping.signal.aborted) {
      await timed('evaluation', async () => {
        const body = { prompt_name: 'bench', dataset: 'small', concurrency: 5, baseline: null };
        const { id } = Run.parse(await api().call('POST', '/evaluations', body));
        const status = await ended(`/evaluations/${id}`);
        if (status !== 'completed') throw new Error(`An evaluation ended as ${status}.`);
      });
      // Its last failure disables the webhook.
      await api()
        .call('POST', `/webhooks/${hopelessId}/enable`)
        .catch(() => {});
      await pause(EVALUATION_PAUSE);
    }
  }

  async function releaseAgain(): Promise<void> {
    for (let version = 2; !stopping.signal.aborted; version = 3 - version) {
      await timed('release', async () => {
        const steps = [
          { type: 'canary', percent: 10 },
          { type: 'wait', for: '5s' },
          { type: 'canary', percent: 50 },
          { type: 'wait', for: '5s' },
          { type: 'promote' },
        ];
        const body = { prompt_name: 'bench', label: 'production', version, steps };
        const { id } = Run.parse(await api().call('POST', '/releases', body));
        const status = await ended(`/releases/${id}`);
        if (status !== 'succeeded') throw new Error(`A release ended as ${status}.`);
      });
      await pause(RELEASE_PAUSE);
    }
  }

  for (const [kind, executions] of Object.entries(EXECUTIONS_FOR_ONE)) {
    const work = works[kind as Kind];
    timers.push(setInterval(() => track(timed(kind, work)), executionsMs(executions)));
  }
  track(evaluateAgain());
  track(releaseAgain());
  return {
    done,
    note: (entry) => void done.push({ ...entry, at: performance.now() - startedAt }),
    async stop() {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
      await Promise.all(open);
    },
  };
}

function recorded(): object[] {
  const finishedAt = Date.now() - 1_000;
  return Array.from({ length: RECORDS }, (_, index) => ({
    prompt_name: 'bench',
    prompt_version: 1,
    model: 'openai/gpt-4o-mini',
    variables: { number: index },
    input: 'What follows the number?',
    output: 'The next one. '.repeat(20),
    tokens: { input: 12, output: 60 },
    started_at: new Date(finishedAt - 900).toISOString(),
    finished_at: new Date(finishedAt).toISOString(),
  }));
}
