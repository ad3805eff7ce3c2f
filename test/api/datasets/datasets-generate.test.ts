import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { splitEntry } from '../../../src/domain/improvements/split.ts';
import { messagesOf, REFLECTOR } from '../../support/hidden-rules.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { RecordedCall } from '../../support/providers/protocol.ts';
import { sharedProviders } from '../../support/providers/shared.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let openai: StandIn;
let answer = '';
const NAME = 'generate/tickets';

beforeAll(async () => {
  const answers = () => ({ text: answer, usage: { input: 100, output: 50 } });
  openai = await startOpenAiServer({ answer: answers, on: (await sharedProviders()).openai });
  service = await startTestService({}, { providers: true });
  await service.call('POST', '/prompts', {
    body: { name: NAME, template: 'Answer {{ customer }}: {{ question }}', model: 'sandbox/echo' },
  });
});
afterAll(async () => {
  await service?.stop();
  await openai?.close();
});

const generate = (dataset: string, body: object = {}, headers: Record<string, string> = {}) =>
  service.call('POST', `/datasets/${dataset}/generate`, {
    body: { prompt_name: NAME, model: REFLECTOR, ...body },
    headers,
  });
const input = (question: string, customer = 'Ada') => ({ variables: { customer, question } });
const says = (...examples: unknown[]) => {
  answer = JSON.stringify({ examples });
};
const shownBy = (call: RecordedCall | undefined) =>
  call === undefined
    ? ''
    : messagesOf(call)
        .map(({ text }) => text)
        .join('\n');

test('valid inputs are returned once, marked, and stored only when they are added', async () => {
  says(
    input('Where is my parcel?'),
    input('WHERE  is my parcel?'),
    input('Can I pay later?'),
    { variables: { question: 'no customer' } },
    { variables: { ...input('x').variables, other: 1 } },
    'nonsense',
    // Without the level of the variables, and with a character that cannot be stored.
    { customer: 'Bob', question: 'Is it blue?' },
    input('\u0000'),
  );
  const found = await generate('generate/new', { count: 10 }, { 'Idempotency-Key': 'generate-once' });
  expect([found.status, found.body]).toEqual([
    201,
    {
      prompt_name: NAME,
      prompt_version: 1,
      examples: [
        { ...input('Where is my parcel?'), metadata: { generated: true } },
        { ...input('Can I pay later?'), metadata: { generated: true } },
        { ...input('Is it blue?', 'Bob'), metadata: { generated: true } },
      ],
      dropped: { invalid: 4, duplicate: 1 },
      status: 'completed',
      execution_id: expect.stringMatching(/^exec_/),
      cost: expect.any(String),
    },
  ]);
  expect((await service.call('GET', '/datasets/generate/new')).status).toBe(404);
  const { body: execution } = await service.call('GET', `/executions/${found.body.execution_id}`);
  expect(execution).toMatchObject({ metadata: { examples_for: NAME }, tokens: { input: 100, output: 50 } });
  const calls = openai.calls.length;
  expect((await generate('generate/new', { count: 10 }, { 'Idempotency-Key': 'generate-once' })).body).toEqual(
    found.body,
  );
  expect(openai.calls).toHaveLength(calls);

  const { examples } = found.body;
  const added = await service.call('POST', '/datasets/generate/new/examples', { body: { examples } });
  expect(added.body).toMatchObject({ added: 3 });
  says(input('where is MY parcel?'), input('Is it new?'));
  expect((await generate('generate/new')).body).toMatchObject({
    examples: [input('Is it new?')],
    dropped: { invalid: 0, duplicate: 1 },
  });
  // Generated examples are only learned from.
  for (const example of examples) expect(splitEntry(0, example).part).toBe('train');
});

test('the model sees the prompt, its variables and examples that may be learned from', async () => {
  const examples = Array.from({ length: 60 }, (_, index) => input(`question-${index}-`));
  await service.call('POST', '/datasets/generate/known/examples', { body: { examples } });
  says(input('a'), input('b'), input('c'));
  const { body } = await generate('generate/known', { count: 2, instructions: 'Be rude.' });
  expect(body.examples).toHaveLength(2);
  const call = openai.calls.at(-1);
  const shown = shownBy(call);
  expect(shown).toContain('Answer {{ customer }}: {{ question }}');
  expect(shown).toContain('- "customer": string');
  expect(shown).toContain('Write 2 inputs.');
  expect(shown).toContain('Be rude.');
  const samples = examples.filter(({ variables }) => shown.includes(variables.question));
  expect(samples).toHaveLength(8);
  for (const sample of samples) expect(splitEntry(0, sample).part).toBe('train');
  expect(call?.body).toMatchObject({ response_format: { type: 'json_schema' } });
  const rows = await service.dependencies.db.system.query<{ seen: boolean }>(
    { text: 'select seen from improvement_looks where prompt_name = $1' },
    [NAME],
  );
  expect(rows).toEqual(Array.from({ length: 8 }, () => ({ seen: true })));
});

test('what cannot be generated is refused before a call', async () => {
  await service.call('POST', '/prompts', { body: { name: 'generate/fixed', template: 'Hi', model: 'sandbox/echo' } });
  await service.call('POST', '/prompts', {
    body: {
      name: 'generate/chat',
      messages: [{ role: 'system', content: 'Hi' }, { placeholder: 'history' }],
      inputs: { history: { type: 'messages' } },
      model: 'sandbox/echo',
    },
  });
  const calls = openai.calls.length;
  const refused = async (body: object) => {
    const found = await generate('generate/none', body);
    return [found.status, found.body.error.details?.[0]?.path ?? found.body.error.code];
  };
  expect(await refused({ prompt_name: 'generate/missing' })).toEqual([404, 'not_found']);
  expect(await refused({ prompt_name: 'generate/fixed' })).toEqual([400, 'prompt_name']);
  expect(await refused({ prompt_name: 'generate/chat' })).toEqual([400, 'prompt_name']);
  expect(await refused({ count: 51 })).toEqual([400, 'count']);
  expect(await refused({ max_cost: 0.000_01 })).toEqual([400, 'max_cost']);
  expect(openai.calls).toHaveLength(calls);
  expect((await generate('generate/none', { max_cost: 1 })).status).toBe(201);
});

test('an answer without an example is empty, as is a failed call', async () => {
  answer = 'I would rather not.';
  expect((await generate('generate/none')).body).toMatchObject({ examples: [], status: 'completed' });
});
