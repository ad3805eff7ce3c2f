import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/wait-for.ts';
import { flood, maxMs, medianMs, report, startTwoTenants, type TwoTenants } from './support.ts';

let tenants: TwoTenants;

beforeAll(async () => {
  tenants = await startTwoTenants();
});

afterAll(() => tenants?.stop());

const evaluationOf = (texts: string[], concurrency = 20) => ({
  prompt_name: 'say',
  baseline: null,
  concurrency,
  examples: texts.map((text) => ({ variables: { text }, expected: `Answer to: ${text}` })),
});

/** From the request to the first call of the model. */
async function firstExample(text: string): Promise<void> {
  const { status } = await tenants.other('POST', '/evaluations', { body: evaluationOf([text]) });
  expect(status).toBe(201);
  await waitFor('the first example', async () => tenants.openai.countBy(text) > 0);
}

test('60 stalled evaluations do not delay the first example of another workspace', async () => {
  const { hostile, openai } = tenants;
  const idleMs = await medianMs(5, (index) => firstExample(`idle ${index}`));
  const before = openai.callCount;
  await flood(60, 4, async (run) => {
    const texts = Array.from({ length: 250 }, (_, index) => `stall ${run}/${index}`);
    const { status } = await hostile('POST', '/evaluations', { body: evaluationOf(texts, 200) });
    expect(status).toBe(201);
  });
  await waitFor('the first calls to stall', async () => openai.callCount >= before + 90);
  const busyMs = await medianMs(5, (index) => firstExample(`busy ${index}`));
  const body = { prompt_name: 'say', variables: { text: 'an execution' } };
  const executionMs = await medianMs(5, async () => {
    const answer = await tenants.other('POST', '/executions', { body });
    expect(answer.body.status).toBe('completed');
  });
  report({ idleMs, busyMs, executionMs });
  expect(busyMs).toBeLessThan(maxMs(idleMs));
  expect(executionMs).toBeLessThan(maxMs(idleMs));
});
