import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isReflection, messagesOf, REFLECTOR, TASK_MODEL } from '../../support/hidden-rules.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { RecordedCall } from '../../support/providers/protocol.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

const RUBRIC = 'Answer true or false: is the answer helpful?';
const RULE = 'A refusal is not helpful.';

/** Judges by the rubric: without the rule, everything is helpful. */
function answer(call: RecordedCall): string {
  const texts = messagesOf(call).map(({ text }) => text);
  if (isReflection(call))
    return JSON.stringify({
      diagnosis: [],
      change: 'a rule',
      parts: [{ part: 'messages.0', text: `${RUBRIC}\n${RULE}` }],
    });
  return String(!texts[0]?.includes(RULE) || !texts.at(-1)?.includes('refuse'));
}

let service: TestService;
let openai: StandIn;
beforeAll(async () => {
  openai = await startOpenAiServer({ answer, on: (await sharedProviders()).openai });
  service = await startTestService({}, { providers: true });
});
afterAll(async () => {
  await service?.stop();
  await openai?.close();
});

test('the verdict on a rubric shows its agreement with people, on held-out examples', async () => {
  const { call } = service;
  await Promise.all(
    Array.from({ length: 160 }, async (_, at) => {
      const isRefusal = at % 3 === 0;
      const now = new Date().toISOString();
      const output = isRefusal ? 'I refuse.' : `Here you are: ${at}.`;
      const times = { started_at: now, finished_at: now };
      const run = { id: `run-${at}`, model: 'any/model', input: `Question ${at}`, output, ...times };
      const { body } = await call('POST', '/executions/record', { body: { records: [run] } });
      // People disagree with any rule now and then.
      const value = at % 20 === 1 ? isRefusal : !isRefusal;
      const scored = await call('POST', '/scores', {
        body: { name: 'helpful', value, subject: { execution_id: body.ids[0] }, source: 'person' },
      });
      expect(scored.status).toBe(201);
    }),
  );
  expect((await call('POST', '/datasets/judged/from-scores', { body: { score: 'helpful' } })).body).toMatchObject({
    added: 160,
  });
  const messages = [
    { role: 'system', content: RUBRIC },
    { role: 'user', content: 'Input: {{ input }}\nOutput: {{ output }}' },
  ];
  await call('POST', '/prompts', { body: { name: 'judge', model: TASK_MODEL, messages } });
  const { body: begun } = await call('POST', '/improvements', {
    body: {
      prompt_name: 'judge',
      dataset: 'judged',
      evaluators: [{ type: 'exact_match' }],
      reflection: { model: REFLECTOR },
      max_cost: null,
      max_proposals: 2,
      parallel: 1,
    },
  });
  const ended = await waitFor('the verdict', async () => {
    const { body } = await call('GET', `/improvements/${begun.id}`);
    return body.status !== 'running' && body;
  });
  expect(ended).toMatchObject({ status: 'completed', verdict: { result: 'improvement' } });
  const { agreement, examples, note } = ended.verdict;
  expect(agreement).toEqual({
    score: 'helpful',
    examples,
    // It says the same of all.
    base: [{ name: 'cohen_kappa', value: 0, interval: expect.anything() }],
    candidate: [
      {
        name: 'cohen_kappa',
        value: expect.any(Number),
        interval: { lower: expect.any(Number), upper: expect.any(Number) },
      },
    ],
  });
  expect(agreement.candidate[0].value).toBeGreaterThan(0.7);
  expect(note).toContain('Agreement with people on "helpful": Cohen\'s kappa 0.');
});
