import { setTimeout as delay } from 'node:timers/promises';
import type { StandIn } from '../test/support/providers/stand-in.ts';
import { type Call, createCall } from '../test/support/service.ts';
import { until } from '../test/support/wait-for.ts';
import { callOk } from './attack-calls.ts';
import { type Row, row } from './report.ts';
import type { Service } from './service.ts';

/** The usage of a call: 2,000 times the output expected from gpt-4o-mini. */
export const DEAR = { input: 1_000, output: 1_000_000 };
const CALL_USD = 0.6;
const BUDGET_USD = 2;
const EXAMPLES = 1_000;
const PATIENCE_MS = 300_000;
const MODEL = 'openai/gpt-4o-mini';

const examples = Array.from({ length: EXAMPLES }, (_, index) => ({ variables: { text: `dear ${index}` } }));
const ended = ['paused', 'completed', 'failed'];

async function spentBy(call: Call, body: object): Promise<number> {
  const { id } = await callOk(
    call('POST', '/evaluations', {
      body: { prompt_name: 'dear', examples, evaluators: [{ type: 'exact_match' }], max_cost: BUDGET_USD, ...body },
    }),
  );
  const run = await until(
    'the budget to end the run',
    async () => {
      const record = await callOk(call('GET', `/evaluations/${id}`));
      return ended.includes(record.status) ? record : undefined;
    },
    PATIENCE_MS,
  );
  if (run.status === 'paused') await callOk(call('POST', `/evaluations/${id}/cancel`));
  return Number(run.cost.amount);
}

/** Calls that cost 0.60 USD each, where 0.0003 USD is expected, as many concurrently as possible, with a budget of 2 USD. */
export async function attackBudgets(service: Service, model: StandIn): Promise<Row[]> {
  const call = createCall(service.origin, service.key);
  const prompt = { template: 'Say {{ text }}', model: MODEL };
  await callOk(call('POST', '/prompts', { body: { name: 'dear', ...prompt } }));
  await callOk(call('POST', '/prompts', { body: { name: 'scored', template: '{{ text }}', model: 'sandbox/echo' } }));
  const interactive = await spentBy(call, { concurrency: 200 });
  const batched = await spentBy(call, { mode: 'batch' });

  const judge = { type: 'llm_judge', model: MODEL, rubric: 'Is it dear?' };
  const rule = { prompt_name: 'scored', evaluators: [judge], max_cost_per_day: BUDGET_USD };
  await callOk(call('PUT', '/rules/dear', { body: rule }));
  const before = model.callCount;
  const runs = Array.from({ length: 300 }, (_, n) =>
    call('POST', '/executions', { body: { prompt_name: 'scored', variables: { text: `dear ${n}` } } }),
  );
  await Promise.all(runs);
  await until(
    'the rule to have dealt with all of them',
    async () => {
      const { scored, failed, skipped_budget: skipped } = await callOk(call('GET', '/rules/dear'));
      return scored + failed + skipped >= runs.length || undefined;
    },
    PATIENCE_MS,
  );
  await delay(1_000);
  const ruled = (model.callCount - before) * CALL_USD;
  const within = { atMost: BUDGET_USD + CALL_USD };
  return [
    row(`10: spent of ${BUDGET_USD} USD by an evaluation, 200 at a time`, 'USD', [interactive], within),
    row('10: the same by provider batches', 'USD', [batched], { atMost: BUDGET_USD }),
    row(`10: spent of ${BUDGET_USD} USD a day by a rule`, 'USD', [ruled], within),
  ];
}
