import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { REFLECTOR } from '../support/hidden-rules.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import { sharedProviders } from '../support/providers/shared.ts';
import type { StandIn } from '../support/providers/stand-in.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let openai: StandIn;
let cli: Cli;
let written: string[] = [];
beforeAll(async () => {
  openai = await startOpenAiServer({
    answer: () => JSON.stringify({ examples: written.map((question) => ({ variables: { question } })) }),
    on: (await sharedProviders()).openai,
  });
  service = await startTestService({}, { providers: true });
  cli = await startCli(service);
  await service.call('POST', '/prompts', {
    body: { name: 'cli/answer', template: 'Answer {{ question }}', model: 'sandbox/echo' },
  });
});
afterAll(async () => {
  await cli?.remove();
  await service?.stop();
  await openai?.close();
});

const pms = (...args: string[]) => cli.pms(['datasets', ...args]);
const generate = (...more: string[]) =>
  pms('generate', 'cli/questions', '--prompt', 'cli/answer', '--model', REFLECTOR, ...more);
const questions = async () =>
  (await service.call('GET', '/datasets/cli/questions/examples')).body.data.map(
    ({ variables }: { variables: { question: string } }) => variables.question,
  );

test('generate prints JSON Lines that add stores, or adds them itself', async () => {
  written = ['Why?', 'When?'];
  const printed = await generate('--count', '2', '--instructions', 'Short ones.');
  expect([printed.status, printed.stderr]).toEqual([0, '']);
  expect(
    printed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(written.map((question) => ({ variables: { question }, metadata: { generated: true } })));
  const sent = JSON.stringify(openai.calls.at(-1)?.body);
  expect(sent).toContain('Write 2 inputs.');
  expect(sent).toContain('Short ones.');
  expect((await service.call('GET', '/datasets/cli/questions')).status).toBe(404);

  const added = await generate('--add');
  expect(added).toMatchObject({ status: 0, stderr: '' });
  expect(added.stdout).toContain('2 added');
  expect((await questions()).toSorted()).toEqual(['When?', 'Why?']);

  // Without those that the dataset has.
  written = ['why?', 'Who?'];
  const found = JSON.parse((await generate('--json')).stdout);
  expect(found).toMatchObject({
    examples: [{ variables: { question: 'Who?' } }],
    dropped: { duplicate: 1 },
    execution_id: expect.stringMatching(/^exec_/),
  });
  expect(await questions()).toHaveLength(2);
});

test('generate exits with 1 if no example is left, and with 2 if the call could cost more than allowed', async () => {
  written = ['Why?'];
  expect(await generate()).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/no example: the call exec_\S+ is completed, with 0 invalid inputs and 1 duplicates/),
  });
  const calls = openai.calls.length;
  expect(await generate('--max-cost', '0.0000001')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('max_cost'),
  });
  expect(openai.calls).toHaveLength(calls);
});

test('from-scores adds what people scored, as examples for a judge', async () => {
  for (const [question, value] of [
    ['a', true],
    ['b', false],
  ]) {
    const { body } = await service.call('POST', '/executions', {
      body: { prompt_name: 'cli/answer', variables: { question } },
    });
    await service.call('POST', '/scores', {
      body: { name: 'kind', value, subject: { execution_id: body.id }, source: 'person' },
    });
  }
  const fromScores = (...more: string[]) => pms('from-scores', 'cli/judged', '--score', 'kind', ...more);
  const made = await fromScores('--limit', '1');
  expect([made.status, made.stdout]).toEqual([0, expect.stringContaining('1 added')]);
  expect(JSON.parse((await fromScores('--json')).stdout)).toMatchObject({ added: 1, examples_total: 2 });
  const { data } = (await service.call('GET', '/datasets/cli/judged/examples')).body;
  expect(
    data.map(({ variables, expected }: { variables: object; expected: boolean }) => [variables, expected]),
  ).toEqual(
    expect.arrayContaining([
      [{ input: { question: 'a' }, output: 'Answer a' }, true],
      [{ input: { question: 'b' }, output: 'Answer b' }, false],
    ]),
  );
  expect(await fromScores('--until', '2020-01-01T00:00:00Z')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('No output has a score "kind"'),
  });
  expect(await pms('from-scores', 'cli/judged')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--score'),
  });
});
