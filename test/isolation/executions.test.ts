import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../support/wait-for.ts';
import { flood, maxMs, medianMs, report, startTwoTenants, type TwoTenants } from './support.ts';

let tenants: TwoTenants;

beforeAll(async () => {
  tenants = await startTwoTenants();
});

afterAll(() => tenants?.stop());

const run = async (name: string) => {
  const body = { prompt_name: 'say', variables: { text: name } };
  const answer = await tenants.other('POST', '/executions', { body });
  expect(answer.body).toMatchObject({ status: 'completed', output: `Answer to: ${name}` });
};

test('400 runs of a stalled model do not delay another workspace', async () => {
  const { hostile, openai } = tenants;
  const idleMs = await medianMs(7, (index) => run(`idle ${index}`));
  const before = openai.callCount;
  const stalled = flood(400, 200, (index) =>
    hostile('POST', '/executions', {
      body: { prompt_name: 'say', variables: { text: `stall ${index}` } },
      headers: { Prefer: 'respond-async' },
    }),
  );
  await waitFor('the first calls to stall', async () => openai.callCount >= before + 90);
  const duringMs = await medianMs(5, (index) => run(`during ${index}`));
  await stalled;
  const afterMs = await medianMs(7, (index) => run(`after ${index}`));
  report({ idleMs, duringMs, afterMs });
  expect(duringMs).toBeLessThan(maxMs(idleMs));
  expect(afterMs).toBeLessThan(maxMs(idleMs));
});
