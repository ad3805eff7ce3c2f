import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { createKey } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  for (const name of ['support/greeting', 'support/summary', 'billing/reply', 'old/greeting'])
    await service.call('POST', '/prompts', { body: { name, template: 'x', model: 'sandbox/echo' } });
  await service.call('PUT', '/prompts/support/greeting/labels/production', { body: { version: 1 } });
  await service.call('DELETE', '/prompts/old/greeting');
});
afterAll(() => service?.stop());

const NAME = 'The prompt "support/greting" does not exist in this workspace. Did you mean "support/greeting"?';
const LABEL =
  'The label "prodution" of the prompt "support/greeting" does not exist in this workspace. Did you mean "production"?';
const evaluators = [{ type: 'exact_match' }];
const examples = [{ variables: {}, expected: 'x' }];

test('a prompt or label that does not exist is answered with the nearest one', async () => {
  const asked: [string, string, object | undefined, string][] = [
    ['GET', '/prompts/support/greting', undefined, NAME],
    ['GET', '/prompts/Support/Greeting', undefined, NAME.replace('support/greting', 'Support/Greeting')],
    ['GET', '/prompts/support/greeting?label=prodution', undefined, LABEL],
    ['POST', '/executions', { prompt_name: 'support/greting' }, NAME],
    ['POST', '/executions', { prompt_name: 'support/greeting', label: 'prodution' }, LABEL],
    ['POST', '/evaluations', { prompt_name: 'support/greting', examples, evaluators }, NAME],
    ['POST', '/evaluations', { prompt_name: 'support/greeting', label: 'prodution', examples, evaluators }, LABEL],
    ['POST', '/chat/completions', { model: 'support/greting', messages: [] }, NAME],
  ];
  for (const [method, path, body, message] of asked) {
    const answer = await service.call(method, path, body === undefined ? {} : { body });
    expect([path, answer.status, answer.body.error.message]).toEqual([path, 404, message]);
  }
  const prompts = [{ name: 'support/greting' }, { name: 'support/greeting', label: 'prodution' }];
  const { body } = await service.call('POST', '/prompts/resolve', { body: { prompts } });
  expect(body.data.map(({ error }: { error: { message: string } }) => error.message)).toEqual([NAME, LABEL]);
});

test('distant, archived and existing names are not suggested', async () => {
  const messageOf = async (path: string) => (await service.call('GET', path)).body.error.message;
  for (const name of ['support/something', 'old/greting', 'x'])
    expect(await messageOf(`/prompts/${name}`)).toBe(`The prompt "${name}" does not exist in this workspace.`);
  expect(await messageOf('/prompts/support/greeting?version=9')).not.toContain('Did you mean');
});

test('a key that cannot read names learns none', async () => {
  const { key } = await createKey(service, 'execute');
  for (const [path, body] of [
    ['/executions', { prompt_name: 'support/greting' }],
    ['/evaluations', { prompt_name: 'support/greting', examples, evaluators }],
  ] as const) {
    const answer = await service.call('POST', path, { body, key });
    expect([answer.status, answer.body.error.message]).toEqual([
      404,
      'The prompt "support/greting" does not exist in this workspace.',
    ]);
  }
});
