import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Big } from 'big.js';
import { readBatches, savingsOf } from '../../../src/services/batches/read-batches.ts';
import { examplesOf } from '../evaluations/evaluations-support.ts';
import { type BatchStage, essence, startBatchStage } from './batches-support.ts';

let stage: BatchStage;
beforeAll(async () => {
  stage = await startBatchStage();
});
afterAll(() => stage.stop());

const idOf = (id: string) => id.slice(id.indexOf('_') + 1);

test('a run in batch mode has the scores of an interactive one at half the cost, without a call by itself', async () => {
  const examples = examplesOf('half', 40);
  const evaluators = [{ type: 'exact_match' }];
  const interactive = await stage.run({ examples, evaluators });
  const called = stage.openai.callCount;

  const run = await stage.runBatch({ examples, evaluators });
  expect(run).toMatchObject({
    status: 'completed',
    examples_evaluated: 40,
    examples_failed: 0,
    score: interactive.score,
  });
  expect(stage.openai.callCount).toBe(called);
  expect(new Big(run.cost.amount).times(2).eq(interactive.cost.amount)).toBe(true);
  const [ours, theirs] = [await stage.results(run.id), await stage.results(interactive.id)];
  expect(essence(ours)).toEqual(essence(theirs));

  const { query } = stage.service.foundation.db.system;
  const priced = await query<{ multiplier: string }>(
    {
      text: `select distinct pricing->>'batch_multiplier' as multiplier from evaluation_results where evaluation_id = $1`,
    },
    [idOf(run.id)],
  );
  expect(priced).toEqual([{ multiplier: '0.5' }]);
  expect(new Big(await savingsOf(query, idOf(run.id))).eq(run.cost.amount)).toBe(true);
  const [row, ...others] = await readBatches(query, idOf(run.id));
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    number: 1,
    wave: 'responses',
    status: 'completed',
    items: 40,
    counts: { total: 40, succeeded: 40, failed: 0 },
    error: null,
  });
  await stage.expectNothingLeft(1);
});
