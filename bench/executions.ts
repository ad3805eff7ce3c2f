import { z } from 'zod';
import { startHelper, startListening } from './child.ts';
import { startLiteLlm } from './litellm.ts';
import { executionLoad, LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { startReceiver } from './receiver-questions.ts';
import { type Outcome, type Row, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';
import { median, quantile } from './statistics.ts';

const MODEL_MS = 200;
const RECEIVER_MS = 50;
const ROUNDS = 3;
/** Measurements start after a warm-up, because V8 compiles hot code in the first thousand runs or so. */
const WARM_UP = { callers: 20, count: 500 };
const ALONE = { callers: 1, count: 20 };
const MANY = { callers: 20, count: 600 };
const MORE = { callers: 50, count: 1_000 };
const INPUT = 'Greet Ada in one sentence.';

/** The load for each contender: number of runs and concurrency. */
interface Amount {
  callers: number;
  count: number;
}

const NAMES = ['service', 'bare', 'floor', 'gateway', 'withWebhook'] as const;
type Name = (typeof NAMES)[number];
type Contenders = Partial<Record<Name, (amount: Amount) => Promise<LoadResult>>>;

const perSecond = ({ requests, seconds }: LoadResult) => requests / seconds;
const p95 = ({ latenciesMs }: LoadResult) => quantile(latenciesMs, 0.95);
const ownMs = ({ latenciesMs }: LoadResult) => median(latenciesMs) - MODEL_MS;

/** Runs the contenders in turns, so that all of a round meet the same state of the machine. */
class Series {
  readonly #values = new Map<string, number[]>();

  /** Measures all of the given contenders. */
  async measure(contenders: Contenders, names: readonly Name[], amount: Amount): Promise<void> {
    for (const name of names) {
      const result = await contenders[name]?.(amount);
      if (result === undefined) continue;
      this.#add(`${name} own ${amount.callers}`, ownMs(result));
      this.#add(`${name} rate ${amount.callers}`, perSecond(result));
      this.#add(`${name} p95 ${amount.callers}`, p95(result));
    }
  }

  #add(key: string, value: number): void {
    this.#values.set(key, [...(this.#values.get(key) ?? []), value]);
  }

  of(name: Name, what: 'own' | 'rate' | 'p95', { callers }: Amount): number[] {
    return this.#values.get(`${name} ${what} ${callers}`) ?? [];
  }
}

/**
 * Runs a prompt with the service (HTTP, key, database, Temporal), a Temporal workflow of two activities (no HTTP, no database), the
 * minimum for Temporal (a workflow of one local activity, started eagerly on the unmodified SDK), and LiteLLM's proxy, a gateway that
 * stores nothing. Same model, in turns.
 */
export async function measureExecutions(servers: Servers, means: Means): Promise<Outcome> {
  const model = await startListening('../test/support/providers/openai-main.ts', ['--latency', String(MODEL_MS)]);
  const modelUrl = `http://127.0.0.1:${model.port}/v1`;
  const settings = { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: modelUrl };
  const service = await startService(servers, settings, means.profileFolder);
  const bare = await startHelper('bare/worker.ts', [servers.temporalAddress, modelUrl]);
  const http = await startHelper('http-load.ts');
  const receiver = await startReceiver(RECEIVER_MS);
  const gateway = await startLiteLlm(servers.folder, modelUrl, means.report);
  try {
    await service.call('POST', '/prompts', {
      name: 'bench',
      template: 'Greet {{ name }} in one sentence.',
      model: 'openai/gpt-4o-mini',
    });
    const load = executionLoad(service);
    const runService = (amount: Amount) => http.ask({ ...load, ...amount }, LoadResult);
    const deliveredAfterMs: number[] = [];

    /** The webhook exists only for this run, which ends when all its events have arrived. */
    async function runWithWebhook(amount: Amount): Promise<LoadResult> {
      const webhook = { url: receiver.url, events: ['execution.completed'] };
      const { id } = z.object({ id: z.string() }).parse(await service.call('POST', '/webhooks', webhook));
      await receiver.forget();
      const result = await runService(amount);
      const doneAt = performance.timeOrigin + performance.now();
      const { firstAt } = await receiver.arrivals(amount.count, 4 * RECEIVER_MS);
      deliveredAfterMs.push((firstAt.at(-1) ?? Number.NaN) - doneAt);
      await service.call('DELETE', `/webhooks/${id}`);
      return result;
    }

    const contenders: Contenders = {
      service: runService,
      bare: (amount) => bare.ask({ ...amount, workflow: 'bare', input: INPUT }, LoadResult),
      floor: (amount) => bare.ask({ ...amount, workflow: 'bareLocal', input: INPUT }, LoadResult),
      withWebhook: runWithWebhook,
    };
    if ('url' in gateway) {
      const completion = {
        url: gateway.url,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: gateway.model, messages: [{ role: 'user', content: INPUT }] }),
        expect: '"finish_reason":"stop"',
      };
      contenders.gateway = (amount) => http.ask({ ...completion, ...amount }, LoadResult);
    }
    for (const run of Object.values(contenders)) await run(WARM_UP);
    deliveredAfterMs.length = 0;

    const series = new Series();
    const rounds = means.rounds ?? ROUNDS;
    for (let round = 0; round < rounds; round += 1) {
      await series.measure(contenders, ['service', 'bare', 'floor', 'gateway'], ALONE);
      await series.measure(contenders, ['gateway', 'service', 'withWebhook', 'bare', 'floor'], MANY);
      await series.measure(contenders, ['gateway', 'service', 'floor'], MORE);
    }
    const [own, rate] = [
      (name: Name) => series.of(name, 'own', ALONE),
      (name: Name, amount = MANY) => series.of(name, 'rate', amount),
    ];
    return {
      benchmark: `executions (a model of ${MODEL_MS} ms)`,
      rows: [
        row('service, 1 caller: time beside the model', 'ms', own('service')),
        row('bare workflow, 1 caller: the same', 'ms', own('bare')),
        row('floor, 1 caller: the same', 'ms', own('floor')),
        ratioRow('service to bare', own('service'), own('bare'), { atMost: 0.45 }),
        row('service, 20 callers', '/s', rate('service')),
        row('bare workflow, 20 callers', '/s', rate('bare')),
        row('floor, 20 callers', '/s', rate('floor')),
        ratioRow('service to bare, 20 callers', rate('service'), rate('bare'), { atLeast: 1.3 }),
        ratioRow('service to floor, 20 callers', rate('service'), rate('floor'), { atLeast: 0.95 }),
        row('service with a webhook, 20 callers', '/s', rate('withWebhook')),
        ratioRow('with a webhook to without', rate('withWebhook'), rate('service'), { atLeast: 0.9 }),
        row('last event delivered after the last execution', 'ms', deliveredAfterMs),
        row('service, 50 callers', '/s', rate('service', MORE)),
        row('floor, 50 callers', '/s', rate('floor', MORE)),
        ratioRow('service to floor, 50 callers', rate('service', MORE), rate('floor', MORE), { atLeast: 0.95 }),
        row('service, 50 callers: p95', 'ms', series.of('service', 'p95', MORE)),
        ...('url' in gateway ? againstGateway(series) : []),
      ],
      ...('missing' in gateway && { notes: [gateway.missing] }),
    };
  } finally {
    if ('url' in gateway) await gateway.stop();
    await Promise.all([http.stop(), bare.stop(), receiver.stop()]);
    await service.stop();
    await model.stop();
  }
}

function againstGateway(series: Series): Row[] {
  const compare = (what: 'own' | 'rate' | 'p95', amount: Amount) =>
    [series.of('service', what, amount), series.of('gateway', what, amount)] as const;
  return [
    row('LiteLLM, 1 caller: time beside the model', 'ms', series.of('gateway', 'own', ALONE)),
    row('LiteLLM, 20 callers', '/s', series.of('gateway', 'rate', MANY)),
    row('LiteLLM, 50 callers', '/s', series.of('gateway', 'rate', MORE)),
    row('LiteLLM, 50 callers: p95', 'ms', series.of('gateway', 'p95', MORE)),
    ratioRow('service to LiteLLM, 20 callers', ...compare('rate', MANY), { atLeast: 0.9 }),
    ratioRow('service to LiteLLM, 50 callers', ...compare('rate', MORE), { atLeast: 0.8 }),
    ratioRow('service to LiteLLM, 50 callers: p95', ...compare('p95', MORE), { atMost: 1.5 }),
  ];
}
