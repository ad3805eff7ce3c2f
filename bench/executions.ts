import { startHelper, startListening } from './child.ts';
import { type Load, LoadResult } from './load.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';
import { median } from './statistics.ts';

const MODEL_MS = 200;
const ROUNDS = 5;
const ALONE = { callers: 1, count: 20 };
const MANY = { callers: 20, count: 240 };
const INPUT = 'Greet Ada in one sentence.';

/** What the contenders are asked: so many runs, so many at a time. */
interface Amount {
  callers: number;
  count: number;
}

/**
 * Running a prompt by the service (HTTP, key, database, Temporal) against the least that is durable: a Temporal workflow of
 * two activities, without HTTP and without a database. Same Temporal, same model, in turns.
 */
export async function measureExecutions(servers: Servers, profileFolder?: string): Promise<Outcome> {
  const model = await startListening('../test/support/providers/openai-main.ts', ['--latency', String(MODEL_MS)]);
  const modelUrl = `http://127.0.0.1:${model.port}/v1`;
  const service = await startService(servers, { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: modelUrl }, profileFolder);
  const bare = await startHelper('bare/worker.ts', [servers.temporalAddress, modelUrl]);
  const http = await startHelper('http-load.ts');
  try {
    await service.call('POST', '/prompts', {
      name: 'bench',
      template: 'Greet {{ name }} in one sentence.',
      model: 'openai/gpt-4o-mini',
    });
    const load: Omit<Load, 'callers'> = {
      url: `${service.origin}/v1/executions`,
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt_name: 'bench', variables: { name: 'Ada' } }),
      expect: '"status":"completed"',
    };
    const contenders = {
      service: (amount: Amount) => http.ask({ ...load, ...amount }, LoadResult),
      bare: (amount: Amount) => bare.ask({ ...amount, eager: false, input: INPUT }, LoadResult),
      eager: (amount: Amount) => bare.ask({ ...amount, eager: true, input: INPUT }, LoadResult),
    };
    for (const run of Object.values(contenders)) await run({ callers: 20, count: 100 });

    const ownMs = { service: [] as number[], bare: [] as number[], eager: [] as number[] };
    const perSecond = { service: [] as number[], bare: [] as number[], eager: [] as number[] };
    const names = ['service', 'bare', 'eager'] as const;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of names) ownMs[name].push(median((await contenders[name](ALONE)).latenciesMs) - MODEL_MS);
      for (const name of names) {
        const { requests, seconds } = await contenders[name](MANY);
        perSecond[name].push(requests / seconds);
      }
    }
    return {
      benchmark: `executions (a model of ${MODEL_MS} ms)`,
      rows: [
        row('service, 1 caller: time beside the model', 'ms', ownMs.service),
        row('bare workflow, 1 caller: the same', 'ms', ownMs.bare),
        row('bare workflow, eager start: the same', 'ms', ownMs.eager),
        ratioRow('service to bare', ownMs.service, ownMs.bare, { atMost: 0.7 }),
        ratioRow('service to bare, eager start', ownMs.service, ownMs.eager),
        row('service, 20 callers', '/s', perSecond.service),
        row('bare workflow, 20 callers', '/s', perSecond.bare),
        row('bare workflow, eager start, 20 callers', '/s', perSecond.eager),
        ratioRow('service to bare, 20 callers', perSecond.service, perSecond.bare, { atLeast: 1.3 }),
        ratioRow('service to bare, eager start, 20 callers', perSecond.service, perSecond.eager),
      ],
    };
  } finally {
    await Promise.all([http.stop(), bare.stop()]);
    await service.stop();
    await model.stop();
  }
}
