import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isReflection } from '../../support/hidden-rules.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ENDED, type ImprovementStage, startStage } from './improvements-support.ts';

const randomText = (bytes: number) => randomBytes(bytes / 2).toString('hex');

let stage: ImprovementStage;
beforeAll(async () => {
  stage = await startStage({ QUOTA_EXECUTION_BYTES: '16MiB' });
});
afterAll(() => stage?.stop());

/** Starts a search, and does something while its first reflection is at work. @returns its id */
async function during(name: string, from: number, act: () => Promise<unknown>): Promise<string> {
  await stage.seed(name, { examples: 140, rules: 4, from });
  stage.reflect([{ upTo: 1, way: 'add' }]);
  stage.openai.behave({ mode: 'hold', matching: 'Rules:' });
  const before = stage.openai.calls.filter(isReflection).length;
  const { id } = await stage.begin(name, { max_proposals: 2, parallel: 1 });
  await waitFor('a reflection', async () => stage.openai.calls.filter(isReflection).length > before);
  await act();
  stage.openai.behave();
  return id;
}

test('a search whose dataset is deleted fails, and names it', async () => {
  const id = await during('pairs/dataset', 60_000, () => stage.service.call('DELETE', '/datasets/pairs/dataset'));
  expect(await stage.until(id, ...ENDED)).toMatchObject({
    status: 'failed',
    error: { code: 'not_found', message: expect.stringContaining('pairs/dataset') },
  });
});

test('a search whose prompt is archived fails, and a retry continues it when the prompt is back', async () => {
  const { call } = stage.service;
  const id = await during('pairs/archived', 61_000, () => call('DELETE', '/prompts/pairs/archived'));
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'failed', error: { code: 'prompt_archived' } });
  await call('POST', '/prompts/pairs/archived/restore');
  await call('POST', `/improvements/${id}/retry`);
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed' });
});

test('a search in a workspace whose quota is used up shows that it waits, and continues with room', async () => {
  const { call } = stage.service;
  const filled: string[] = [];
  const fill = async () => {
    const now = new Date().toISOString();
    for (const bytes of [1_000_000, 50_000, 2_000])
      for (;;) {
        const run = { id: `fill-${filled.length}-${bytes}`, model: 'any/model', input: 'x', output: randomText(bytes) };
        const records = [{ ...run, started_at: now, finished_at: now }];
        const { status, body } = await call('POST', '/executions/record', { body: { records } });
        if (status !== 201) break;
        filled.push(body.ids[0]);
      }
  };
  const id = await during('pairs/quota', 62_000, fill);
  expect(
    await waitFor('the reason', async () => {
      const body = await stage.read(id);
      return (body.status !== 'running' || body.status_reason !== null) && body;
    }),
  ).toMatchObject({ status: 'running', status_reason: expect.stringMatching(/^waits: /) });
  await Promise.all(filled.map((each) => call('DELETE', `/executions/${each}`)));
  expect(await stage.until(id, ...ENDED)).toMatchObject({ status: 'completed', status_reason: null });
});
