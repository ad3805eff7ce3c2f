import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TEST_KEY } from '../../support/providers/models.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const JUDGE = { type: 'llm_judge', name: 'judge', rubric: 'Be kind.' };

let service: TestService;
beforeAll(async () => {
  service = await startTestService(
    { OPENAI_API_KEY: TEST_KEY, OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1' },
    { workers: false },
  );
  const prompts = {
    say: { model: 'openai/gpt-4o-mini' },
    local: { model: 'openai-compatible/llama' },
    echo: { model: 'sandbox/echo' },
    fallen: { model: 'openai/gpt-4o-mini', fallback_models: ['sandbox/echo'] },
    keyless: { model: 'anthropic/claude-haiku-4-5', fallback_models: ['openai/gpt-4o-mini'] },
  };
  for (const [name, prompt] of Object.entries(prompts))
    await service.call('POST', '/prompts', { body: { name, template: '{{ text }}', ...prompt } });
});
afterAll(() => service?.stop());

const bodyOf = (over: object) => ({ prompt_name: 'say', examples: [{ variables: { text: 'hi' } }], ...over });
const create = (over: object) => service.call('POST', '/evaluations', { body: bodyOf(over) });
const estimate = (over: object) => service.call('POST', '/evaluations/estimate', { body: bodyOf(over) });

describe('what a run is', () => {
  const WITHIN_A_DAY = { max_wait: '24h', then: 'interactive' };
  test.each([
    [{}, 'interactive', null],
    [{ mode: 'interactive' }, 'interactive', null],
    [{ mode: 'batch' }, 'batch', WITHIN_A_DAY],
    [{ mode: 'batch', batch: {} }, 'batch', WITHIN_A_DAY],
    [{ mode: 'batch', batch: { max_wait: '7d', then: 'fail' } }, 'batch', { max_wait: '168h', then: 'fail' }],
    [{ mode: 'batch', batch: { max_wait: '5400s' } }, 'batch', { max_wait: '90m', then: 'interactive' }],
    [{ mode: 'auto' }, 'auto', WITHIN_A_DAY],
    [{ mode: 'auto', prompt_name: 'echo' }, 'auto', null],
    [{ mode: 'auto', evaluators: [{ ...JUDGE, model: 'openai/gpt-4o' }] }, 'auto', WITHIN_A_DAY],
    [{ mode: 'auto', evaluators: [{ ...JUDGE, model: 'sandbox/echo' }] }, 'auto', null],
    [{ mode: 'batch', prompt_name: 'fallen' }, 'batch', WITHIN_A_DAY],
    // Its fallback could be called: not by a batch.
    [{ mode: 'auto', prompt_name: 'keyless' }, 'auto', null],
  ])('%j is %s', async (given, mode, batch) => {
    const { status, body } = await create(given);
    expect([status, body.mode, body.batch]).toEqual([201, mode, batch]);
    expect((await service.call('GET', `/evaluations/${body.id}`)).body).toMatchObject({
      mode,
      batch,
      batches: [],
      savings: { amount: '0', currency: 'USD' },
    });
  });
});

describe('what is refused', () => {
  test.each([
    [{ mode: 'later' }, 'mode: must be one of interactive, batch, auto'],
    [{ batch: {} }, 'batch: requires mode "batch" or "auto": set one of them, or omit this field'],
    [{ mode: 'interactive', batch: { then: 'fail' } }, 'batch: requires mode'],
    [{ mode: 'batch', batch: { max_wait: '59m' } }, 'batch.max_wait: must be a duration from "1h" to "7d"'],
    [{ mode: 'batch', batch: { max_wait: '8d' } }, 'batch.max_wait: must be a duration'],
    [{ mode: 'batch', batch: { max_wait: '24' } }, 'batch.max_wait: must be a duration'],
    [{ mode: 'batch', batch: { max_wait: 3600 } }, 'batch.max_wait: must be a duration with a unit, such as "24h"'],
    [{ mode: 'batch', batch: { then: 'wait' } }, 'batch.then: must be one of interactive, fail'],
    [{ mode: 'batch', batch: { poll: 1 } }, 'batch'],
    [{ mode: 'batch', prompt_name: 'echo' }, "sandbox/echo can't be called in batches"],
    [{ mode: 'batch', prompt_name: 'local' }, 'OPENAI_COMPATIBLE_BATCHES=true'],
    [{ mode: 'batch', prompt_name: 'keyless' }, 'no credentials for anthropic'],
    [{ mode: 'batch', evaluators: [{ ...JUDGE, model: 'sandbox/echo' }] }, "sandbox/echo can't be called in batches"],
  ])('%j, saying why', async (given, message) => {
    for (const answer of [await create(given), await estimate(given)]) {
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
      expect(answer.body.error.message).toContain(message);
    }
  });

  test('an impossible mode names every model that prevents it, once', async () => {
    const evaluators = [
      { ...JUDGE, model: 'openai-compatible/llama' },
      { ...JUDGE, name: 'other', model: 'sandbox/echo' },
    ];
    const { body } = await create({ mode: 'batch', prompt_name: 'echo', evaluators });
    expect(body.error.details).toEqual([{ path: 'mode', message: expect.any(String) }]);
    expect(body.error.message).toMatch(
      /^mode: must be "interactive" or "auto" because sandbox\/echo .*; openai-compatible\/llama /,
    );
    expect(body.error.message.match(/sandbox\/echo/g)).toHaveLength(1);
  });
});

describe('the estimate', () => {
  test('is at the price of batches, and shows the saving', async () => {
    const evaluators = [{ ...JUDGE, model: 'openai/gpt-4o' }];
    const oneByOne = (await estimate({ evaluators })).body;
    const batched = (await estimate({ evaluators, mode: 'batch' })).body;
    expect(oneByOne.savings).toBeNull();
    expect(Number(batched.cost.amount)).toBeCloseTo(Number(oneByOne.cost.amount) / 2, 12);
    expect(Number(batched.savings.amount)).toBeCloseTo(Number(oneByOne.cost.amount) / 2, 12);
    expect(batched.basis).toContain('Prices: those of batches');
    expect((await estimate({ evaluators, mode: 'auto' })).body).toEqual(batched);
  });

  test('of an interactive run is the usual one', async () => {
    const { body } = await estimate({ mode: 'auto', prompt_name: 'echo' });
    expect(body).toEqual((await estimate({ prompt_name: 'echo' })).body);
  });
});

describe('a schedule', () => {
  const createSchedule = (evaluation: object) =>
    service.call('POST', '/schedules', { body: { name: 'nightly', cron: '@daily', evaluation: bodyOf(evaluation) } });

  test('keeps the given mode', async () => {
    const { status, body } = await createSchedule({ mode: 'batch', batch: { max_wait: '2d' } });
    expect(status).toBe(201);
    expect(body.evaluation).toMatchObject({ mode: 'batch', batch: { max_wait: '2d', then: 'interactive' } });
  });

  test('refuses settings of batches without the mode', async () => {
    const { status, body } = await createSchedule({ batch: { max_wait: '2d' } });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('evaluation.batch: requires mode')]);
  });
});

test('the catalogue says which providers have batches', async () => {
  const { body } = await service.call('GET', '/providers');
  const has = new Map(
    body.data.map((each: { provider: string; has_batches: boolean }) => [each.provider, each.has_batches]),
  );
  expect([has.get('openai'), has.get('openai-compatible'), has.get('sandbox')]).toEqual([true, false, false]);
});
