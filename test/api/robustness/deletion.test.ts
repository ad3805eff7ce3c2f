import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { expiredBy } from '../../../src/capabilities.ts';
import { parsePublicId } from '../../../src/domain/ids.ts';
import { cleanUp } from '../../../src/jobs/clean-up.ts';
import { type EvaluationStage, examplesOf, startStage } from '../evaluations/evaluations-support.ts';

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

const call: EvaluationStage['service']['call'] = (...request) => stage.service.call(...request);
const count = async (text: string, id: string) => {
  const [row] = await stage.service.dependencies.db.system.query<{ count: number }>(
    { text: `select count(*)::int as count from ${text}` },
    [parsePublicId('evaluation', id)],
  );
  return row?.count;
};
const execute = (text: string, headers = {}) =>
  call('POST', '/executions', { body: { prompt_name: 'say', variables: { text } }, headers });

describe('a deleted execution', () => {
  test('is gone at once, and is returned whole', async () => {
    const { body } = await execute('delete me');
    const deleted = await call('DELETE', `/executions/${body.id}`);
    expect(deleted).toMatchObject({ status: 200, body });
    expect((await call('GET', `/executions/${body.id}`)).status).toBe(404);
    expect((await call('DELETE', `/executions/${body.id}`)).status).toBe(404);
    const list = await call('GET', '/executions?limit=1000');
    expect(list.body.data.map(({ id }: { id: string }) => id)).not.toContain(body.id);
  });

  test('frees its idempotency key: the same request runs again', async () => {
    const headers = { 'Idempotency-Key': 'delete-execution' };
    const first = await execute('once', headers);
    await call('DELETE', `/executions/${first.body.id}`);
    const second = await execute('once', headers);
    expect(second.status).toBe(201);
    expect(second.headers.get('Idempotent-Replayed')).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('has ended: a running one is canceled first', async () => {
    stage.openai.behave({ mode: 'stall' });
    const { body } = await execute('stalls', { Prefer: 'respond-async' });
    expect(await call('DELETE', `/executions/${body.id}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_state', message: expect.stringContaining('cancel it first') } },
    });
    await call('POST', `/executions/${body.id}/cancel`);
    expect((await call('DELETE', `/executions/${body.id}`)).status).toBe(200);
  });
});

describe('a deleted evaluation', () => {
  test('is hidden at once, and its rows are deleted later', async () => {
    const headers = { 'Idempotency-Key': 'delete-evaluation' };
    const body = { prompt_name: 'say', examples: examplesOf('gone', 8), baseline: null };
    const { body: created } = await call('POST', '/evaluations', { body, headers });
    const run = await stage.until(created.id, 'completed');
    const other = await stage.run({ examples: examplesOf('gone', 8), baseline: run.id });
    expect(other.baseline_id).toBe(run.id);

    expect(await call('DELETE', `/evaluations/${run.id}`)).toMatchObject({ status: 200, body: run });
    for (const path of ['', '/results', `/compare/${other.id}`])
      expect((await call('GET', `/evaluations/${run.id}${path}`)).status).toBe(404);
    expect((await call('GET', `/evaluations/${other.id}/compare/${run.id}`)).status).toBe(404);
    expect((await call('DELETE', `/evaluations/${run.id}`)).status).toBe(404);
    for (const action of ['cancel', 'retry', 'pause', 'resume'])
      expect((await stage.control(run.id, action)).status).toBe(404);
    const list = await call('GET', '/evaluations?limit=1000');
    expect(list.body.data.map(({ id }: { id: string }) => id)).not.toContain(run.id);
    // The result of the comparison stays.
    expect(await stage.read(other.id)).toEqual(other);
    const again = await call('POST', '/evaluations', { body, headers });
    expect(again.body.id).not.toBe(run.id);

    await cleanUp(stage.service.dependencies.db.system, expiredBy({ events: 86_400_000 }));
    expect(await count('evaluation_results where evaluation_id = $1', run.id)).toBe(0);
    expect(await count('evaluations where id = $1', run.id)).toBe(0);
    // Its inline examples too, and no others.
    expect(
      await count(
        `dataset_versions v where dataset_id is null and $1::uuid is not null
         and not exists (select from evaluations e where e.examples_id = v.id)`,
        run.id,
      ),
    ).toBe(0);
    expect(await stage.results(other.id)).toHaveLength(8);
    expect((await stage.control(other.id, 'retry')).status).not.toBe(404);
  });

  test('is no baseline for later runs; a run waiting for it uses its threshold', async () => {
    const examples = examplesOf('baseline', 4);
    const first = await stage.run({ examples });
    const start_at = new Date(Date.now() + 86_400_000).toISOString();
    const waiting = await stage.begin({ examples, baseline: first.id, start_at });
    await call('DELETE', `/evaluations/${first.id}`);
    const later = await stage.run({ examples });
    expect(later.baseline_id).toBeNull();
    await stage.service.dependencies.db.system.query(
      { text: 'update evaluations set start_at = now() where id = $1' },
      [parsePublicId('evaluation', waiting)],
    );
    await stage.control(waiting, 'pause');
    await stage.control(waiting, 'resume');
    expect(await stage.until(waiting, 'completed')).toMatchObject({ baseline_id: null, regressions: 1 });
  });

  test('has ended: a running one is canceled first', async () => {
    stage.openai.behave({ mode: 'stall' });
    const id = await stage.begin({ examples: examplesOf('stalls', 2) });
    expect(await call('DELETE', `/evaluations/${id}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_state', message: expect.stringContaining('cancel it first') } },
    });
    await stage.control(id, 'cancel');
    expect((await call('DELETE', `/evaluations/${id}`)).status).toBe(200);
  });
});
