import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startReceiver } from '../support/receiver.ts';
import { waitFor } from '../support/wait-for.ts';
import { maxMs, medianMs, report, startTwoTenants, type TwoTenants } from './support.ts';

let tenants: TwoTenants;

beforeAll(async () => {
  tenants = await startTwoTenants();
});

afterAll(() => tenants?.stop());

test('rules with silent scorers, endless expressions and stalled judges delay neither the scores nor the executions of another workspace', async () => {
  const { hostile, other, openai } = tenants;
  const scorer = await startReceiver(() => {});
  const contains = { type: 'contains', value: 'Answer' };
  expect(await other('PUT', '/rules/own', { body: { evaluators: [contains] } })).toMatchObject({ status: 200 });
  let scored = 0;
  const execute = async (text: string) => {
    const answer = await other('POST', '/executions', { body: { prompt_name: 'say', variables: { text } } });
    expect(answer.body.status).toBe('completed');
  };
  /** From the end of an execution to its score. */
  const score = async (index: number) => {
    await execute(`own ${index}`);
    scored += 1;
    await waitFor('the score', async () => (await other('GET', '/rules/own')).body.scored === scored);
  };
  await score(-1);
  const idleMs = await medianMs(5, score);
  const hostileRules = [
    { type: 'http', url: scorer.url, timeout_ms: 60_000 },
    { type: 'regex', pattern: '(a+)+$' },
    { type: 'llm_judge', model: 'openai/gpt-4o-mini', rubric: 'Stall. stall' },
  ];
  for (let rule = 0; rule < 12; rule += 1)
    expect(
      await hostile('PUT', `/rules/hostile-${rule}`, { body: { evaluators: [hostileRules[rule % 3]] } }),
    ).toMatchObject({ status: 200 });
  for (let from = 0; from < 100; from += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        hostile('POST', '/executions', {
          body: { prompt_name: 'say', variables: { text: `${'a'.repeat(40)}! ${from + index}` } },
        }),
      ),
    );
  await scorer.got(20);
  const busyMs = await medianMs(5, (index) => score(100 + index));
  const executionMs = await medianMs(5, (index) => execute(`after ${index}`));
  report({ idleMs, busyMs, executionMs, calls: openai.callCount });
  expect(busyMs).toBeLessThan(maxMs(idleMs));
  expect(executionMs).toBeLessThan(maxMs(idleMs));
  await scorer.close();
});
