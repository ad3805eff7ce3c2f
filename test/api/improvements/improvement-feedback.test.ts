import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { splitEntry } from '../../../src/domain/improvements/split.ts';
import { examplesOf, isReflection, messagesOf } from '../../support/hidden-rules.ts';
import { ENDED, type ImprovementStage, startStage } from './improvements-support.ts';

let stage: ImprovementStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const NAME = 'feedback/rules';
const FROM = 50_000;

test('reflections see what people said, except about inputs that must stay unseen', async () => {
  const { call } = stage.service;
  await stage.seed(NAME, { examples: 140, rules: 4, from: FROM });
  const scored = examplesOf(24, 4, FROM).map(({ variables }, index) => ({
    variables,
    comment: `remark-${index}-of-a-person`,
    isTrain: splitEntry(0, { variables }).part === 'train',
  }));
  const trainSide = scored.filter(({ isTrain }) => isTrain);
  expect(trainSide.length).toBeGreaterThan(1);
  expect(trainSide.length).toBeLessThan(scored.length);
  const [corrected] = trainSide;
  expect((await call('PUT', '/queues/feedback/rules', { body: { score_names: ['right'] } })).status).toBe(200);
  for (const { variables, comment } of scored) {
    const run = await call('POST', '/executions', { body: { prompt_name: NAME, variables } });
    expect(run.status).toBe(201);
    const subject = { execution_id: run.body.id };
    if (comment !== corrected?.comment) {
      const score = { name: 'right', value: false, comment, subject, source: 'person' };
      expect((await call('POST', '/scores', { body: score })).status).toBe(201);
      continue;
    }
    await call('POST', '/queues/feedback/rules/items', { body: { execution_ids: [run.body.id] } });
    const { item } = (await call('POST', '/queues/feedback/rules/next')).body;
    const completed = await call('POST', `/queues/feedback/rules/items/${item.id}/complete`, {
      body: {
        scores: [{ name: 'right', value: false, comment }],
        correction: 'the corrected answer',
        dataset: 'feedback/corrected',
      },
    });
    expect(completed.body).toMatchObject({ state: 'completed' });
  }

  const begun = await stage.begin(NAME, { max_proposals: 4, feedback: { limit: 100 } });
  expect(begun.feedback).toEqual({ limit: 100, scores: trainSide.length });
  await stage.until(begun.id, ...ENDED);
  const reflections = stage.openai.calls
    .filter(isReflection)
    .map((each) =>
      messagesOf(each)
        .map(({ text }) => text)
        .join(),
    )
    .join();
  for (const { comment, isTrain } of scored)
    expect([comment, reflections.includes(comment)]).toEqual([comment, isTrain]);
  expect(reflections).toContain('the corrected answer');

  // The default is none.
  expect((await stage.begin(NAME, { max_proposals: 1 })).feedback).toBeNull();
});
