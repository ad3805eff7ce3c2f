import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { startHelper, startListening } from './child.ts';
import { cpuOf } from './cpu.ts';
import { LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { type Service, startApi, startService } from './service.ts';
import { median } from './statistics.ts';

const MODEL_MS = 200;
const ROUNDS = 9;
const WARM_UP = { callers: 20, count: 500 };
const ONE = { callers: 1, count: 25 };
const MANY = { callers: 20, count: 400 };

const Run = z.object({ prompt_version: z.number() });
const Begun = z.object({ id: z.string(), percent: z.number(), status: z.string() });
const CANDIDATE = 2;
const ROLLBACKS = 5;

/**
 * All callers get the candidate; then it is rolled back. @returns how long after the request any API process still started an execution
 * of it, in ms
 */
async function timeRollback(apis: readonly Service[]): Promise<number> {
  const [first] = apis;
  if (first === undefined) return Number.NaN;
  const steps = [
    { type: 'canary', percent: 100 },
    { type: 'wait', for: '1d' },
  ];
  const release = { prompt_name: 'rollback', label: 'production', version: CANDIDATE, steps };
  const { id } = Begun.parse(await first.call('POST', '/releases', release));
  while (Begun.parse(await first.call('GET', `/releases/${id}`)).percent !== 100) await delay(20);
  let isOver = false;
  let requestedAt = Number.NaN;
  const latest = await Promise.all([
    ...apis.map(async (api) => {
      const runs: Promise<number>[] = [];
      for (; !isOver; await delay(10)) {
        const at = performance.now();
        const run = api.call('POST', '/executions', {
          prompt_name: 'rollback',
          label: 'production',
          variables: { name: 'Ada' },
        });
        runs.push(run.then((body) => (Run.parse(body).prompt_version === CANDIDATE ? at : 0)));
      }
      return Math.max(...(await Promise.all(runs)));
    }),
    delay(500)
      .then(() => {
        requestedAt = performance.now();
        return first.call('POST', `/releases/${id}/rollback`);
      })
      .then(() => delay(2_500))
      .then(() => {
        isOver = true;
        return 0;
      }),
  ]);
  return Math.max(...latest) - requestedAt;
}

async function timeRollbacks(servers: Servers, settings: Record<string, string>, service: Service): Promise<number[]> {
  const other = await startApi(servers, settings);
  try {
    for (const template of ['Greet {{ name }}.', 'Greet {{ name }} warmly.'])
      await service.call('POST', '/prompts', { name: 'rollback', template, model: 'openai/gpt-4o-mini' });
    await service.call('PUT', '/prompts/rollback/labels/production', { version: 1 });
    const times: number[] = [];
    for (let round = 0; round < ROLLBACKS; round += 1) times.push(await timeRollback([service, other]));
    return times;
  } finally {
    await other.stop();
  }
}

/** Executions through a label with a release, half of them with the candidate, compared with a label without one. In turns. */
export async function measureRouting(servers: Servers, means: Means): Promise<Outcome> {
  const model = await startListening('../test/support/providers/openai-main.ts', ['--latency', String(MODEL_MS)]);
  const settings = { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `http://127.0.0.1:${model.port}/v1` };
  const service = await startService(servers, settings, means.profileFolder);
  const http = await startHelper('http-load.ts');
  const names = ['plain', 'released'] as const;
  try {
    for (const name of names) {
      for (const template of ['Greet {{ name }}.', 'Greet {{ name }} warmly.'])
        await service.call('POST', '/prompts', { name, template, model: 'openai/gpt-4o-mini' });
      await service.call('PUT', `/prompts/${name}/labels/production`, { version: 1 });
    }
    await service.call('POST', '/releases', {
      prompt_name: 'released',
      label: 'production',
      version: 2,
      steps: [
        { type: 'canary', percent: 50 },
        { type: 'wait', for: '1d' },
      ],
    });
    const run = (name: string, amount: { callers: number; count: number }) =>
      http.ask(
        {
          url: `${service.origin}/v1/executions`,
          method: 'POST',
          headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ prompt_name: name, label: 'production', variables: { name: 'Ada' } }),
          expect: '"status":"completed"',
          ...amount,
        },
        LoadResult,
      );
    for (const name of names) await run(name, WARM_UP);
    const times = { plain: [] as number[], released: [] as number[] };
    const rates = { plain: [] as number[], released: [] as number[] };
    const cpu = { plain: [] as number[], released: [] as number[] };
    const processes = { all: [service.pid, servers.pids.temporal, servers.pids.postgres] };
    for (let round = 0; round < (means.rounds ?? ROUNDS); round += 1)
      // Alternates which one comes first.
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        times[name].push(median((await run(name, ONE)).latenciesMs));
        const { result, cpuMs } = await cpuOf(processes, () => run(name, MANY));
        rates[name].push(result.requests / result.seconds);
        cpu[name].push(cpuMs.all / MANY.count);
      }
    return {
      benchmark: `routing (a model of ${MODEL_MS} ms)`,
      rows: [
        row('without a release, 1 caller', 'ms', times.plain),
        row('with a release, 1 caller', 'ms', times.released),
        ratioRow('with to without, 1 caller', times.released, times.plain, { atMost: 1.01 }),
        row('without a release, 20 callers', '/s', rates.plain),
        row('with a release, 20 callers', '/s', rates.released),
        ratioRow('with to without, 20 callers', rates.released, rates.plain, { atLeast: 0.99 }),
        row('CPU of an execution without a release', 'ms', cpu.plain),
        ratioRow('CPU with to without', cpu.released, cpu.plain),
        row(
          'from a rollback to the last execution of the candidate, two API processes',
          'ms',
          await timeRollbacks(servers, settings, service),
          {
            below: 2_000,
          },
        ),
      ],
    };
  } finally {
    await http.stop();
    await service.stop();
    await model.stop();
  }
}
