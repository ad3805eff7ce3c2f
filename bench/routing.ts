import { startHelper, startListening } from './child.ts';
import { LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';
import { median } from './statistics.ts';

const MODEL_MS = 200;
const ROUNDS = 9;
const WARM_UP = { callers: 20, count: 500 };
const ONE = { callers: 1, count: 25 };
const MANY = { callers: 20, count: 400 };

/** Executions by a label on which a release runs, half of them of the candidate, against those by one without. In turns. */
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
    for (let round = 0; round < (means.rounds ?? ROUNDS); round += 1)
      // Neither always comes first.
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        times[name].push(median((await run(name, ONE)).latenciesMs));
        const { requests, seconds } = await run(name, MANY);
        rates[name].push(requests / seconds);
      }
    return {
      benchmark: `routing (a model of ${MODEL_MS} ms)`,
      rows: [
        row('without a release, 1 caller', 'ms', times.plain),
        row('with a release, 1 caller', 'ms', times.released),
        ratioRow('with to without, 1 caller', times.released, times.plain, { atMost: 1.01 }),
        row('without a release, 20 callers', '/s', rates.plain),
        row('with a release, 20 callers', '/s', rates.released),
        ratioRow('with to without, 20 callers', rates.released, rates.plain),
      ],
    };
  } finally {
    await http.stop();
    await service.stop();
    await model.stop();
  }
}
