import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { publicId } from '../../../src/domain/ids.ts';
import { insertBatch, insertBatchedResult } from '../../support/provider-batch-rows.ts';
import { startTestService, type TestService } from '../../support/service.ts';

// Nothing runs here: the rows are written as a run's workflows would write them.

let service: TestService;
let id: string;
const at = (hour: number) => `2026-01-31T${String(hour).padStart(2, '0')}:00:00.000Z`;
beforeAll(async () => {
  service = await startTestService({}, { workers: false, providers: true });
  await service.call('POST', '/prompts', {
    body: { name: 'say', template: '{{ text }}', model: 'openai/gpt-4o-mini' },
  });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  const examples = [0, 1, 2].map((text) => ({ variables: { text } }));
  const { status, body } = await service.call('POST', '/evaluations', {
    body: { prompt_name: 'say', examples, mode: 'batch' },
  });
  expect(status).toBe(201);
  id = body.id;
});

const read = async () => (await service.call('GET', `/evaluations/${id}`)).body;
const resubmit = (number: number | string, options = {}) =>
  service.call('POST', `/evaluations/${id}/batches/${number}/resubmit`, options);

describe('the record', () => {
  test('has the batches by number, as last reported', async () => {
    const judged = await insertBatch(service, id, {
      number: 2,
      wave: 'judgements',
      evaluator: 'judge',
      status: 'expired',
      provider_status: 'expired',
      counts: { total: 3, succeeded: 1, failed: 0 },
      error: { code: 'batch_expired', message: 'It took more than 24 hours.' },
      submitted_at: at(1),
      finished_at: at(9),
    });
    const first = await insertBatch(service, id, {
      items: 3,
      provider_batch_id: null,
      status: 'submitting',
      next_poll_at: at(3),
      expires_at: at(23),
    });
    const common = { provider: 'openai', model: 'openai/gpt-4o-mini' };
    expect((await read()).batches).toEqual([
      {
        ...common,
        number: 1,
        id: publicId('providerBatch', first),
        wave: 'responses',
        evaluator: null,
        provider_batch_id: null,
        status: 'submitting',
        provider_status: null,
        items: 3,
        counts: null,
        submitted_at: null,
        expires_at: at(23),
        next_poll_at: at(3),
        finished_at: null,
        error: null,
      },
      {
        ...common,
        number: 2,
        id: publicId('providerBatch', judged),
        wave: 'judgements',
        evaluator: 'judge',
        provider_batch_id: 'batch_abc',
        status: 'expired',
        provider_status: 'expired',
        items: 1_000,
        counts: { total: 3, succeeded: 1, failed: 0 },
        submitted_at: at(1),
        expires_at: null,
        next_poll_at: null,
        finished_at: at(9),
        error: { code: 'batch_expired', message: 'It took more than 24 hours.' },
      },
    ]);
  });

  test('shows the savings of batches, by the prices paid', async () => {
    await insertBatchedResult(service, id, { seq: 0, costUsd: '0.02', multiplier: '0.5' });
    await insertBatchedResult(service, id, { seq: 1, costUsd: '0.03', multiplier: '0.75' });
    await insertBatchedResult(service, id, { seq: 2, costUsd: '7', multiplier: '1' });
    expect((await read()).savings).toEqual({ amount: '0.03', currency: 'USD' });
  });

  test('is in streams and after changes; lists have neither batches nor savings', async () => {
    await insertBatch(service, id);
    const stream = await fetch(`${service.origin}/v1/evaluations/${id}/stream`, {
      headers: { Authorization: `Bearer ${service.key}` },
    });
    const { value } = (await stream.body?.getReader().read()) ?? {};
    const [, data = ''] = /^data: (.*)$/m.exec(Buffer.from(value ?? []).toString()) ?? [];
    expect(JSON.parse(data).evaluation.batches).toHaveLength(1);
    const paused = await service.call('POST', `/evaluations/${id}/pause`);
    expect([paused.status, paused.body.batches.length]).toEqual([200, 1]);
    const { body: list } = await service.call('GET', '/evaluations?limit=1');
    expect(list.data[0]).toMatchObject({ id, mode: 'batch' });
    expect([list.data[0].batches, list.data[0].savings]).toEqual([undefined, undefined]);
  });
});

describe('submitting again', () => {
  test('is possible if the batch is unknown, and is in the audit log', async () => {
    await insertBatch(service, id, { status: 'unknown', provider_batch_id: null });
    const { status, body } = await resubmit(1);
    expect([status, body.id, body.batches[0].number]).toEqual([200, id, 1]);
    expect(body.batches[0].status).not.toBe('unknown');
    const { body: log } = await service.call('GET', `/audit-log?action=evaluation.batch_resubmitted`);
    expect(log.data[0]).toMatchObject({ resource: { type: 'evaluation', id }, details: { number: 1 } });
  });

  test.each(['preparing', 'submitting', 'in_progress', 'settling', 'completed', 'failed', 'expired', 'canceled'])(
    'is refused if it is %s',
    async (state) => {
      await insertBatch(service, id, { status: state });
      const { status, body } = await resubmit(1);
      expect([status, body.error.code]).toEqual([400, 'invalid_state']);
      expect(body.error.message).toContain(`This batch is ${state}: only an unknown batch`);
    },
  );

  test('is a 404 for a missing batch, and a 400 for an invalid number', async () => {
    await insertBatch(service, id, { status: 'unknown' });
    expect((await resubmit(2)).status).toBe(404);
    for (const number of ['0', 'one', '-1', '1.5'])
      expect([number, (await resubmit(number)).status]).toEqual([number, 400]);
    const elsewhere = await service.call(
      'POST',
      `/evaluations/eval_${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}/batches/1/resubmit`,
    );
    expect(elsewhere.status).toBe(404);
  });
});

test('a run is rescored in batches if it has a judge', async () => {
  const { dependencies } = service;
  await dependencies.db.system.query({ text: `alter table evaluations disable trigger user` });
  await dependencies.db.system.query(
    { text: `update evaluations set status = 'completed', score = 1, finished_at = now() where id = $1` },
    [id.slice('eval_'.length)],
  );
  const rescore = (body: object) => service.call('POST', `/evaluations/${id}/rescore`, { body });
  const judges = [{ type: 'llm_judge', model: 'openai/gpt-4o', rubric: 'Be kind.' }];
  const batched = await rescore({ evaluators: judges, mode: 'batch', batch: { max_wait: '2h' } });
  expect([batched.status, batched.body.mode, batched.body.batch]).toEqual([
    201,
    'batch',
    { max_wait: '2h', then: 'interactive' },
  ]);
  expect((await rescore({ evaluators: judges })).body).toMatchObject({ mode: 'interactive', batch: null });
  const without = [{ type: 'contains', value: 'x' }];
  expect((await rescore({ evaluators: without, mode: 'auto' })).body).toMatchObject({ mode: 'auto', batch: null });
  expect((await rescore({ evaluators: without, mode: 'batch' })).body.error.message).toContain('no model is called');
  expect((await rescore({ batch: {} })).body.error.message).toContain('batch: requires mode');
});
