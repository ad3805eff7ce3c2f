import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BASE_TEXT, canaryOf, isReflection, messagesOf, trueScore } from '../../support/hidden-rules.ts';
import { ENDED, type ImprovementStage, startStage } from './improvements-support.ts';

let stage: ImprovementStage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

const EXAMPLES = 160;
const RULES = 4;

test('a search finds the hidden rules, proves it on examples it never saw, and a person accepts it', async () => {
  const { call } = stage.service;
  await stage.seed('hidden/rules', { examples: EXAMPLES, rules: RULES });
  await call('PUT', '/prompts/hidden/rules/labels/live', { body: { version: 1 } });
  const begun = await stage.begin('hidden/rules', { max_proposals: 24, seed: 'one' });
  expect(begun).toMatchObject({ status: 'running', phase: 'base', verdict: null, accepted: null });
  const ended = await stage.until(begun.id, ...ENDED);
  expect(ended).toMatchObject({ status: 'completed', verdict: { result: 'improvement', look: 1, p_needed: 0.05 } });
  const { verdict, spent } = ended;
  expect(verdict.score_base).toBeLessThanOrEqual(0.25);
  expect(verdict.examples).toBe(ended.split.held_out);
  expect(spent.cost).toBeLessThanOrEqual(5);

  const candidates = await stage.candidates(begun.id);
  expect(candidates[0]).toMatchObject({ number: 0, kind: 'base', parent: null });
  const finalist = candidates[verdict.candidate];
  expect(finalist.status).toBe('finalist');
  expect(trueScore(finalist.content.messages[0].content, EXAMPLES, RULES)).toBeGreaterThanOrEqual(0.85);

  // What it changes, from its parent and from the base.
  const { diffs } = (await call('GET', `/improvements/${begun.id}/candidates/${verdict.candidate}`)).body;
  expect(diffs.base).toEqual([{ path: 'messages.0.content', diff: expect.stringContaining('\n+Rule ') }]);
  expect(diffs.base[0].diff).toContain(`+++ messages.0.content@${verdict.candidate}`);
  expect(diffs.parent).toHaveLength(1);
  expect((await call('GET', `/improvements/${begun.id}/candidates/0`)).body.diffs).toEqual({ parent: [], base: [] });

  // Reflections have seen examples of the train part only.
  const reflections = stage.openai.calls.filter(isReflection).map((each) =>
    messagesOf(each)
      .map(({ text }) => text)
      .join(),
  );
  const seen = Array.from({ length: EXAMPLES }, (_, index) => index).filter((index) =>
    reflections.some((text) => text.includes(canaryOf(index))),
  );
  expect(seen.length).toBeGreaterThan(0);
  expect(seen.length).toBeLessThanOrEqual(ended.split.train);

  // Rejected ones have cost no call of the task.
  for (const candidate of candidates.filter(({ status }) => status === 'rejected'))
    expect(Object.keys(candidate.evaluation_ids)).toEqual(['parent']);

  // Lists show its evaluations only by its id, and they wrote no events.
  expect((await call('GET', '/evaluations?prompt_name=hidden/rules')).body.data).toEqual([]);
  const own = (await call('GET', `/evaluations?improvement_id=${begun.id}&limit=1000`)).body.data;
  expect(own.length).toBeGreaterThan(10);
  expect(own.every((each: { improvement_id: string }) => each.improvement_id === begun.id)).toBe(true);
  const events = (await call('GET', '/events?limit=1000')).body.data.map(({ event }: { event: string }) => event);
  expect(events).toContain('improvement.completed');
  expect(events).not.toContain('evaluation.completed');

  // Until a candidate is accepted, all callers get the base; then the release decides.
  expect((await call('GET', '/prompts/hidden/rules')).body.version).toBe(1);
  const accept = () =>
    call('POST', `/improvements/${begun.id}/accept`, {
      body: { release: { label: 'live', steps: [{ type: 'approve' }, { type: 'promote' }] } },
    });
  const accepted = await accept();
  expect(accepted.status).toBe(200);
  expect(accepted.body.accepted).toEqual({ version: 2, release_id: expect.stringMatching(/^rel_/) });
  const version = (await call('GET', '/prompts/hidden/rules')).body;
  expect(version).toMatchObject({ version: 2, messages: finalist.content.messages });
  expect(version.commit_message).toContain(verdict.note);
  expect((await call('GET', '/prompts/hidden/rules?label=live')).body).toMatchObject({
    version: 1,
    messages: [{ content: BASE_TEXT }, {}],
  });
  expect((await call('GET', `/releases/${accepted.body.accepted.release_id}`)).body).toMatchObject({
    status: 'awaiting_approval',
    candidate_version: 2,
  });
  expect((await accept()).body.accepted).toEqual(accepted.body.accepted);
  expect((await call('GET', '/prompts/hidden/rules')).body.version).toBe(2);
});
