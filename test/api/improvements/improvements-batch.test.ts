import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isReflection } from '../../support/hidden-rules.ts';
import { waitFor } from '../../support/wait-for.ts';
import { DEFAULTS, ENDED, type ImprovementStage, startStage } from './improvements-support.ts';

let stage: ImprovementStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

/** Without responses of the other search, and the same otherwise. */
const SEARCH = { max_proposals: 4, seed: 'same', reuse: { max_age: 1 } };
/** Runs over a whole part that chooses or proves. */
const WHOLE = ['check', 'again', 'held_out'];

test('in batch mode the check and held-out parts cost half, and the search finds the same', async () => {
  const { call } = stage.service;
  stage.reflect([{ upTo: 1, way: 'add' }]);
  const run = async (name: string, more: object) => {
    await stage.seed(name, { examples: 140, rules: 4, from: 90_000, parameters: { max_tokens: 50 } });
    const before = stage.openai.callCount;
    const { id } = await stage.begin(name, { ...SEARCH, ...more });
    const ended = await stage.until(id, ...ENDED);
    expect(ended).toMatchObject({ status: 'completed', verdict: { result: 'improvement' } });
    const candidates = await stage.candidates(id);
    const trials = candidates.flatMap(({ number, evaluation_ids: ids }) =>
      Object.entries<string>(ids).map(([trial, evaluation]) => ({ number, trial, evaluation })),
    );
    const evaluations = await Promise.all(
      trials.map(async ({ evaluation }) => (await call('GET', `/evaluations/${evaluation}`)).body),
    );
    const found = candidates.map(({ number, status, content, check }) => ({ number, status, content, check }));
    const { evaluation_id: _id, base_evaluation_id: _base, cost_per_call: cost, ...verdict } = ended.verdict;
    return { ended, trials, evaluations, found, verdict, cost, calls: stage.openai.callCount - before };
  };
  const interactive = await run('batch/interactive', {});
  expect(stage.openai.batches.inspect().created).toBe(0);
  const batch = await run('batch/batch', { mode: 'batch' });
  expect(batch.ended).toMatchObject({ mode: 'batch', batch: { max_wait: '24h', then: 'interactive' } });
  expect([batch.found, batch.verdict]).toEqual([interactive.found, interactive.verdict]);

  const whole = batch.trials.filter(({ trial }) => WHOLE.includes(trial));
  expect(new Set(whole.map(({ trial }) => trial))).toEqual(new Set(WHOLE));
  expect(batch.evaluations.map(({ mode }) => mode)).toEqual(
    batch.trials.map(({ trial }) => (WHOLE.includes(trial) ? 'batch' : 'interactive')),
  );
  for (const [at, { trial, number }] of batch.trials.entries()) {
    if (!WHOLE.includes(trial)) continue;
    const other = interactive.trials.findIndex((each) => each.trial === trial && each.number === number);
    expect(Number(batch.evaluations[at].cost.amount)).toBeCloseTo(
      Number(interactive.evaluations[other].cost.amount) / 2,
      9,
    );
  }
  for (const side of ['base', 'candidate'] as const)
    expect(batch.cost[side]).toBeCloseTo(interactive.cost[side] / 2, 9);
  expect(batch.ended.spent.cost).toBeLessThan(interactive.ended.spent.cost);

  // Each whole run was one batch, and nothing of it was called singly.
  const inBatches = stage.openai.batches.inspect().batches;
  expect(inBatches.map(({ status }) => status)).toEqual(whole.map(() => 'completed'));
  expect(batch.ended.spent.calls - inBatches.reduce((sum, { items }) => sum + items, 0)).toBe(
    batch.calls - batch.ended.spent.reflections,
  );
  expect(stage.openai.calls.slice(-batch.calls).filter(isReflection)).toHaveLength(batch.ended.spent.reflections);
});

test('the estimate warns if the budget makes many small batches of a run', async () => {
  const warningsOf = async (max_tokens?: number) => {
    const name = `batch/tokens-${max_tokens}`;
    await stage.seed(name, { examples: 140, rules: 4, parameters: { max_tokens } });
    const body = { prompt_name: name, dataset: name, ...DEFAULTS, mode: 'batch' };
    return (await stage.service.call('POST', '/improvements/estimate', { body })).body.warnings.join('\n');
  };
  expect(await warningsOf()).toContain('Set max_tokens.');
  expect(await warningsOf(50)).not.toContain('max_tokens');
});

test('a cancellation also ends the batches at the provider', async () => {
  stage.openai.batches.behave({ completeMs: null });
  await stage.seed('batch/canceled', { examples: 140, rules: 4, from: 95_000 });
  const { id } = await stage.begin('batch/canceled', { mode: 'batch' });
  const { batches } = stage.openai;
  const open = () => batches.inspect().batches.filter(({ status }) => status === 'in_progress').length;
  await waitFor('a batch', async () => open() > 0);
  await stage.service.call('POST', `/improvements/${id}/cancel`);
  await stage.until(id, 'canceled');
  await waitFor('its end', async () => open() === 0);
});
