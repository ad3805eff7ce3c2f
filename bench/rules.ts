import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { startHelper, startListening } from './child.ts';
import { LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';

const MODEL_MS = 200;
const ROUNDS = 3;
const WARM_UP = { callers: 20, count: 500 };
/** With a model latency of 200 ms, 20 callers make about 100 executions per second. */
const MANY = { callers: 20, count: 600 };
/** The maximum on two cores. */
const MOST = { callers: 50, count: 1_000 };

type Amount = typeof MANY;

const NAMES = ['plain', 'ruled', 'judged'] as const;
type Name = (typeof NAMES)[number];

/** The model's response to every prompt, which also works as a judge's response. */
const ANSWER = '{"reason": "Greets.", "score": 5}';
const EVALUATORS = [
  { type: 'contains', value: 'Greets' },
  { type: 'regex', pattern: 'score.: 5' },
  { type: 'latency', at_most_ms: 1_000 },
];
const JUDGE = { type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Friendly.' };

const RuleRecord = z.object({ scored: z.int(), failed: z.int() });

/** Executions of a prompt whose runs are all scored by a rule, compared with one without a rule. In turns. */
export async function measureRules(servers: Servers, means: Means): Promise<Outcome> {
  const model = await startListening('../test/support/providers/openai-main.ts', [
    '--latency',
    String(MODEL_MS),
    '--answer',
    ANSWER,
  ]);
  const settings = { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `http://127.0.0.1:${model.port}/v1` };
  const service = await startService(servers, settings, means.profileFolder);
  const http = await startHelper('http-load.ts');
  const done = { plain: 0, ruled: 0, judged: 0 };
  const behindMs: number[] = [];
  try {
    for (const name of NAMES)
      await service.call('POST', '/prompts', { name, template: 'Greet {{ name }}.', model: 'openai/gpt-4o-mini' });
    await service.call('PUT', '/rules/ruled', { prompt_name: 'ruled', evaluators: EVALUATORS });
    await service.call('PUT', '/rules/judged', { prompt_name: 'judged', evaluators: [JUDGE] });

    /** Waits until the rule has scored every execution, so that nothing carries over to the next run. */
    async function untilScored(name: Name): Promise<void> {
      for (;;) {
        const { scored, failed } = RuleRecord.parse(await service.call('GET', `/rules/${name}`));
        if (scored + failed === done[name]) return;
        if (scored + failed > done[name]) throw new Error(`The rule ${name} has scored more than there is.`);
        await delay(50);
      }
    }

    async function run(name: Name, amount: Amount): Promise<number> {
      const { requests, seconds } = await http.ask(
        {
          url: `${service.origin}/v1/executions`,
          method: 'POST',
          headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ prompt_name: name, variables: { name: 'Ada' } }),
          expect: '"status":"completed"',
          ...amount,
        },
        LoadResult,
      );
      done[name] += requests;
      const endedAt = performance.now();
      if (name !== 'plain') await untilScored(name);
      if (name === 'ruled' && amount === MANY) behindMs.push(performance.now() - endedAt);
      return requests / seconds;
    }

    for (const name of NAMES) await run(name, WARM_UP);
    const many: Record<Name, number[]> = { plain: [], ruled: [], judged: [] };
    const most: Record<Name, number[]> = { plain: [], ruled: [], judged: [] };
    for (let round = 0; round < (means.rounds ?? ROUNDS); round += 1) {
      // Alternates which one comes first.
      const names = round % 2 === 0 ? NAMES : NAMES.toReversed();
      for (const name of names) many[name].push(await run(name, MANY));
      for (const name of names) if (name !== 'judged') most[name].push(await run(name, MOST));
    }
    return {
      benchmark: `rules (a model of ${MODEL_MS} ms)`,
      rows: [
        row('without a rule, 20 callers', '/s', many.plain),
        row('with a rule at 100 %, 20 callers', '/s', many.ruled),
        ratioRow('with to without, 20 callers', many.ruled, many.plain, { atLeast: 0.85 }),
        row('with a judge at 100 %, 20 callers', '/s', many.judged),
        ratioRow('with a judge to without, 20 callers', many.judged, many.plain),
        row('last score after the last execution', 'ms', behindMs),
        row('without a rule, 50 callers', '/s', most.plain),
        row('with a rule at 100 %, 50 callers', '/s', most.ruled),
        ratioRow('with to without, 50 callers', most.ruled, most.plain, { atLeast: 0.85 }),
      ],
    };
  } finally {
    await http.stop();
    await service.stop();
    await model.stop();
  }
}
