import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../support/wait-for.ts';
import { type ImprovementStage, startStage } from './improvements-support.ts';

let stage: ImprovementStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const NAME = 'accept/required';

test('a candidate gets onto a label that requires releases only by the release of its policy', async () => {
  const { call } = stage.service;
  await stage.seed(NAME, { examples: 140, rules: 4, from: 70_000 });
  await call('PUT', `/prompts/${NAME}/labels/stable`, { body: { version: 1 } });
  const steps = [{ type: 'approve' }, { type: 'promote' }];
  const policy = await call('PUT', '/labels/stable', { body: { release: { steps, required: true } } });
  expect(policy.status).toBe(200);
  stage.reflect([{ upTo: 1, way: 'add' }]);
  const { id } = await stage.begin(NAME, { max_proposals: 4 });
  const number = await waitFor('a candidate with a text', async () => {
    const written = (await stage.candidates(id)).find((each) => each.number > 0 && each.content !== null);
    return written?.number as number | undefined;
  });
  await call('POST', `/improvements/${id}/cancel`);
  await stage.until(id, 'canceled', 'completed');
  const accept = (release: object) =>
    call('POST', `/improvements/${id}/accept`, { body: { candidate: number, unproved: true, release } });

  // Other steps than those of the policy are refused, and no version remains.
  const others = await accept({ label: 'stable', steps: [{ type: 'promote' }] });
  expect([others.status, others.body.error.code]).toEqual([400, 'invalid_state']);
  expect((await call('GET', `/prompts/${NAME}`)).body.version).toBe(1);
  const accepted = await accept({ label: 'stable' });
  expect(accepted.body.accepted).toEqual({ version: 2, release_id: expect.stringMatching(/^rel_/) });
  expect((await call('GET', `/releases/${accepted.body.accepted.release_id}`)).body).toMatchObject({
    status: 'awaiting_approval',
    steps: [expect.objectContaining({ type: 'approve' }), expect.objectContaining({ type: 'promote' })],
  });
  expect((await call('GET', `/prompts/${NAME}?label=stable`)).body.version).toBe(1);
});
