import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { publicId } from '../../../src/domain/ids.ts';
import { isSampled } from '../../../src/domain/rules/sampling.ts';
import { type RuleStage, startRuleStage } from './rules-support.ts';

const JUDGE = { type: 'llm_judge', name: 'tone', model: 'openai/gpt-4o-mini', rubric: 'Friendly.' };
const CONTAINS = { type: 'contains', value: 'Answer' };
/** The stand-in responds to a judge with 1,000 tokens in and 100 out. */
const JUDGE_USD = (1_000 * 0.15 + 100 * 0.6) / 1e6;
/** A judge that uses a million tokens where a hundred are expected. */
const DEAR_JUDGE = { ...JUDGE, rubric: 'Dear.' };
const DEAR_USD = (1_000 * 0.15 + 1_000_000 * 0.6) / 1e6;

let stage: RuleStage;
beforeAll(async () => {
  stage = await startRuleStage({
    answer: ({ prompt }) =>
      prompt.startsWith('You grade')
        ? {
            text: prompt.includes('\nCategories: ')
              ? '{"reason": "Friendly enough.", "category": "Polite"}'
              : '{"reason": "Friendly enough.", "score": 4}',
            usage: { input: 1_000, output: prompt.includes(DEAR_JUDGE.rubric) ? 1_000_000 : 100 },
          }
        : { text: `Answer to: ${prompt}`, usage: { input: 10, output: 10 } },
  });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

describe('a rule', () => {
  test('scores executions as they complete, by evaluators and a judge, once each, and records it', async () => {
    await stage.prompt('both');
    const made = await stage.put('both', { prompt_name: 'both', evaluators: [JUDGE, CONTAINS] });
    expect(made).toMatchObject({
      status: 200,
      body: { name: 'both', sample_rate: 1, enabled: true, max_cost_per_day: null, scored: 0, spent: '0' },
    });
    const ids = await stage.run('both', 30);
    const rule = await stage.untilRule('both', ({ scored }) => scored >= 30);
    expect(rule).toMatchObject({ scored: 30, failed: 0, skipped: 0, skipped_budget: 0, waiting: 0, last_error: null });
    expect(Number(rule.spent_today)).toBeCloseTo(30 * JUDGE_USD, 9);
    const scores = await stage.scores('both');
    expect(scores).toHaveLength(60);
    expect(new Set(scores.map(({ execution_id }) => execution_id))).toEqual(new Set(ids));
    expect(scores.find(({ name }) => name === 'tone')).toMatchObject({
      number: 0.75,
      evaluator_model: 'openai/gpt-4o-mini',
      comment: 'Friendly enough.',
      prompt_name: 'both',
    });
    expect(scores.find(({ name }) => name === 'contains')).toMatchObject({ number: 1, evaluator_model: null });
    // Calls of judges are not executions.
    const { body: executions } = await stage.service.call('GET', '/executions?prompt_name=both&limit=1000');
    expect(executions.data).toHaveLength(30);
  });

  test('has its cost in usage under its name, and not under prompts', async () => {
    await stage.prompt('used');
    await stage.put('used', { prompt_name: 'used', evaluators: [JUDGE] });
    await stage.run('used', 5);
    await stage.untilRule('used', ({ scored }) => scored === 5);
    const { body } = await stage.service.call('GET', '/usage?group_by=prompt,model');
    const row = body.rules.find(({ rule }: { rule: string }) => rule === 'used');
    expect(row).toMatchObject({
      model: 'openai/gpt-4o-mini',
      judgements: 5,
      tokens: { input: 5_000, output: 500, total: 5_500 },
      unpriced: 0,
    });
    expect(Number(row.cost.amount)).toBeCloseTo(5 * JUDGE_USD, 9);
    expect(body.evaluations).toEqual([]);
    const ofPrompt = await stage.service.call('GET', '/usage?prompt_name=used');
    expect(ofPrompt.body.rules).toEqual([]);
    expect(ofPrompt.body.data).toHaveLength(1);
  });

  test('samples its rate, by the hash that a repeat shares', async () => {
    await stage.prompt('sampled');
    await stage.put('sampled', { prompt_name: 'sampled', sample_rate: 0.3, evaluators: [CONTAINS] });
    const [{ id }] = (await stage.service.dependencies.db.system.query(
      { text: `select id from rules where workspace_id = $1 and name = 'sampled'` },
      [stage.service.workspaceId],
    )) as [{ id: string }];
    const ids = await stage.run('sampled', 60);
    const taken = ids.filter((execution) => isSampled(id, execution, 0.3)).toSorted();
    await stage.untilRule('sampled', ({ scored }) => scored >= taken.length);
    const before = await stage.scores('sampled');
    expect(before.map(({ execution_id }) => execution_id)).toEqual(taken);
    const backfill = await stage.backfill('sampled');
    const done = await stage.untilBackfill('sampled', backfill.id, 'completed', 'failed');
    expect(done).toMatchObject({ status: 'completed', found: taken.length, scored: taken.length, progress: 1 });
    expect(await stage.scores('sampled')).toEqual(before);
  });

  test('uses only completed runs of its prompts: no failed ones, drafts, reused responses, or filtered ones', async () => {
    await stage.prompt('team/one');
    await stage.prompt('teamwork');
    await stage.put('team', { group: 'team', filter: { model: 'openai/gpt-4o-mini' }, evaluators: [CONTAINS] });
    await stage.put('other-model', { group: 'team', filter: { model: 'openai/gpt-4o' }, evaluators: [CONTAINS] });
    const [first] = await stage.run('team/one', 1);
    await stage.run('teamwork', 1);
    await stage.run('team/one', 1, { reuse: { max_age: 3600 } });
    await stage.service.call('POST', '/executions', {
      body: { prompt_name: 'team/one', template: 'A draft of {{ text }}', variables: { text: 'x' } },
    });
    await stage.service.call('POST', '/executions', {
      body: { prompt_name: 'team/one', variables: {}, model: 'openai/none' },
    });
    const [last] = await stage.run('team/one', 1, { variables: { text: 'last' } });
    await stage.untilRule('team', ({ scored, waiting }) => scored >= 2 && waiting === 0);
    expect((await stage.scores('team')).map(({ execution_id }) => execution_id)).toEqual(
      [first ?? '', last ?? ''].toSorted((a, b) => (a < b ? -1 : 1)),
    );
    expect(await stage.untilRule('other-model', ({ waiting }) => waiting === 0)).toMatchObject({ scored: 0 });
  });

  test('skips and counts executions beyond its daily budget, and continues with a higher one', async () => {
    await stage.prompt('budget');
    const rule = { prompt_name: 'budget', evaluators: [JUDGE], max_cost_per_day: 10 * JUDGE_USD };
    await stage.put('budget', rule);
    await stage.run('budget', 40);
    const spent = await stage.untilRule('budget', (each) => each.scored + each.skipped_budget === 40);
    expect(spent.scored).toBeGreaterThanOrEqual(9);
    // The initial estimate is above the actual cost of the calls.
    expect(Number(spent.spent_today)).toBeLessThanOrEqual(10 * JUDGE_USD + 1e-9);
    expect(spent.waiting).toBe(0);
    await stage.put('budget', { ...rule, max_cost_per_day: 1 });
    await stage.run('budget', 5);
    await stage.untilRule('budget', ({ scored }) => scored === spent.scored + 5);
  });

  test('whose judge costs thousands of times the estimate exceeds its budget by less than one call', async () => {
    await stage.prompt('dear');
    await stage.put('dear', { prompt_name: 'dear', evaluators: [DEAR_JUDGE], max_cost_per_day: 2 });
    await stage.run('dear', 40);
    const spent = await stage.untilRule('dear', (each) => each.scored + each.skipped_budget === 40);
    expect(Number(spent.spent_today)).toBeLessThan(2 + DEAR_USD);
    const { id } = await stage.backfill('dear', { max_cost: 2 });
    const paused = await stage.untilBackfill('dear', id, 'paused', 'completed');
    expect(paused.status).toBe('paused');
    expect(Number(paused.spent)).toBeLessThan(2 + DEAR_USD);
    await stage.service.call('POST', `/rules/dear/backfills/${id}/cancel`);
  });

  test('reports why an execution cannot be scored, stores no score of it, and continues', async () => {
    await stage.prompt('failing');
    await stage.put('failing', {
      prompt_name: 'failing',
      evaluators: [{ ...JUDGE, model: 'openai/gpt-4o' }, CONTAINS],
    });
    stage.openai.behave({ mode: 'fail', status: 401, matching: 'You grade' });
    await stage.run('failing', 3);
    const rule = await stage.untilRule('failing', ({ failed }) => failed === 3);
    expect(rule.last_error).toMatchObject({ message: expect.stringContaining('exec_') });
    expect((await stage.scores('failing')).filter(({ name }) => name === 'tone')).toEqual([]);
    stage.openai.behave();
    await stage.run('failing', 1);
    await stage.untilRule('failing', ({ scored }) => scored === 1);
  });

  test('whose scores do not fit a later definition fails executions with that reason', async () => {
    await stage.prompt('unfit');
    const score = { name: 'unfit-score', value: 'billing' };
    const { db } = stage.service.dependencies;
    await stage.put('unfit', { prompt_name: 'unfit', evaluators: [{ ...CONTAINS, name: score.name }] });
    await db.system.query(
      {
        text: `insert into score_definitions (id, workspace_id, name, data_type, defined, created_at, updated_at)
               values (gen_random_uuid(), $1, $2, 'categorical', true, now(), now())`,
      },
      [stage.service.workspaceId, score.name],
    );
    await stage.run('unfit', 3);
    const rule = await stage.untilRule('unfit', ({ failed }) => failed === 3);
    expect(rule.last_error).toMatchObject({ code: 'invalid_request' });
  });

  test('that is disabled or deleted scores nothing more, and leaves nothing waiting', async () => {
    await stage.prompt('ended');
    await stage.put('ended', { prompt_name: 'ended', evaluators: [CONTAINS], enabled: false });
    await stage.run('ended', 2);
    await stage.put('ended', { prompt_name: 'ended', evaluators: [CONTAINS] });
    await stage.run('ended', 2);
    await stage.untilRule('ended', ({ scored }) => scored === 2);
    expect(await stage.service.call('DELETE', '/rules/ended')).toMatchObject({ status: 200, body: { scored: 2 } });
    await stage.run('ended', 1);
    expect(await stage.service.call('GET', '/rules/ended')).toMatchObject({ status: 404 });
    expect(await stage.scores('ended')).toHaveLength(2);
    const { db } = stage.service.dependencies;
    expect(
      await db.system.query({
        // Leftovers of canceled backfills are deleted a little later.
        text: `select i.* from rule_items i join executions e on e.id = i.execution_id and e.prompt_name = 'ended'
          where not exists (select 1 from rules r where r.id = i.work_id)`,
      }),
    ).toEqual([]);
  });
});

describe('a request', () => {
  const refused = async (rule: object, path: string) => {
    const answer = await stage.put('refused', rule);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request', details: [{ path }] } } });
    return answer.body.error.message;
  };

  test('with an evaluator that needs an expected value is refused, unless the evaluator has its own', async () => {
    for (const type of ['exact_match', 'numeric', 'levenshtein', 'contains', 'json_match', 'tool_calls'])
      expect(await refused({ evaluators: [CONTAINS, { type, name: 'x' }] }, 'evaluators.1')).toContain(
        'expected value',
      );
    const evaluators = [
      CONTAINS,
      { type: 'json_match', value: { a: 1 } },
      { type: 'tool_calls', value: [] },
      { type: 'json_valid' },
      { type: 'regex', pattern: 'a' },
      { type: 'latency', at_most_ms: 1 },
    ];
    expect(await stage.put('accepted', { evaluators, enabled: false })).toMatchObject({ status: 200 });
  });

  test('that cannot be kept is refused, and says what to change', async () => {
    await refused({ prompt_name: 'a', group: 'b', evaluators: [CONTAINS] }, 'group');
    await refused({ sample_rate: 1.5, evaluators: [CONTAINS] }, 'sample_rate');
    await refused({ filter: { status: 'failed' }, evaluators: [CONTAINS] }, 'filter');
    await refused({ evaluators: [] }, 'evaluators');
    await refused({ evaluators: [{ type: 'regex', pattern: '(' }] }, 'evaluators.0.pattern');
    await refused({ evaluators: [{ ...JUDGE, model: 'openai/unheard-of' }], max_cost_per_day: 1 }, 'max_cost_per_day');
    expect(await stage.put('a/backfills', { evaluators: [CONTAINS] })).toMatchObject({ status: 400 });
    expect(await stage.service.call('GET', '/rules/refused')).toMatchObject({ status: 404 });
  });

  const CATEGORIES = [
    { value: 'polite', score: 1 },
    { value: 'rude', score: 0 },
  ];
  const define = (name: string, definition: object) =>
    stage.service.call('PUT', `/score-definitions/${name}`, { body: definition });

  test('with a judge whose categories match the definition stores the category, compared with those of people', async () => {
    const categories = [{ value: 'polite' }, { value: 'rude' }, { value: 'neutral' }];
    await define('manners', { data_type: 'categorical', categories });
    const judge = { ...JUDGE, name: 'manners' };
    expect(await refused({ evaluators: [judge] }, 'evaluators.0')).toContain('use a judge');
    const other = [...CATEGORIES, { value: 'odd', score: 0.5 }];
    expect(await refused({ evaluators: [{ ...judge, categories: other }] }, 'evaluators.0')).toContain(
      'can give "odd"',
    );
    await stage.prompt('manners');
    const evaluators = [{ ...judge, categories: CATEGORIES }];
    expect(await stage.put('manners', { prompt_name: 'manners', evaluators })).toMatchObject({ status: 200 });
    const [id = ''] = await stage.run('manners', 1);
    const rule = await stage.untilRule('manners', ({ scored, failed }) => scored + failed === 1);
    expect(rule).toMatchObject({ failed: 0, last_error: null });
    const subject = { execution_id: publicId('execution', id) };
    const { body } = await stage.service.call('GET', `/scores?execution_id=${subject.execution_id}`);
    expect(body.data).toMatchObject([
      { name: 'manners', value: 'polite', data_type: 'categorical', comment: 'Friendly enough.' },
    ]);
    await stage.service.call('POST', '/scores', {
      body: { name: 'manners', value: 'polite', subject, source: 'person' },
    });
    const agreement = await stage.service.call('GET', '/evaluators/agreement?score=manners&rule=manners');
    expect(agreement).toMatchObject({ status: 200, body: { evaluators: [{ rule: 'manners', n: 1, same: 1 }] } });
    // Categories with the scores 0 and 1 fit a boolean, too.
    await define('is_polite', { data_type: 'boolean' });
    const asBoolean = [{ ...judge, name: 'is_polite', categories: CATEGORIES }];
    expect(await stage.put('is-polite', { evaluators: asBoolean, enabled: false })).toMatchObject({ status: 200 });
  });

  test('with a judge of categories and a new name makes it categorical; a rule of another type is refused', async () => {
    await stage.prompt('mood');
    const judge = { ...JUDGE, name: 'mood', categories: CATEGORIES };
    await stage.put('mood', { prompt_name: 'mood', evaluators: [judge], enabled: false });
    expect(await refused({ evaluators: [{ ...CONTAINS, name: 'mood' }] }, 'evaluators.0')).toContain('the rule "mood"');
    await stage.put('mood', { prompt_name: 'mood', evaluators: [judge] });
    await stage.run('mood', 1);
    await stage.untilRule('mood', ({ scored }) => scored === 1);
    expect(await stage.service.call('GET', '/score-definitions/mood')).toMatchObject({
      body: { data_type: 'categorical' },
    });
  });

  test('to define a score so that a rule always fails is refused, and names the rule; so is a first score of another type', async () => {
    const ruleOf = (name: string, evaluator: object) =>
      stage.put(name, { evaluators: [{ ...evaluator, name }], enabled: false });
    const refusedDefinition = async (name: string, definition: object, path: string) => {
      const answer = await define(name, definition);
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request', details: [{ path }] } } });
      expect(answer.body.error.message).toContain(`the rule "${name}"`);
    };
    await ruleOf('later', JUDGE);
    await refusedDefinition('later', { data_type: 'boolean' }, 'data_type');
    await refusedDefinition('later', { data_type: 'text' }, 'data_type');
    await refusedDefinition('later', { data_type: 'categorical', categories: [{ value: 'good' }] }, 'data_type');
    await refusedDefinition('later', { data_type: 'numeric', min: 1, max: 5 }, 'data_type');
    expect(await define('later', { data_type: 'numeric', min: 0, max: 1 })).toMatchObject({ status: 200 });
    await refusedDefinition('later', { data_type: 'numeric', min: 0.5 }, 'min');

    await ruleOf('chosen', { ...JUDGE, categories: CATEGORIES });
    const categories = [{ value: 'polite' }, { value: 'rude' }];
    expect(await define('chosen', { data_type: 'categorical', categories })).toMatchObject({ status: 200 });
    await refusedDefinition('chosen', { data_type: 'categorical', categories: [{ value: 'polite' }] }, 'categories');

    await stage.prompt('first');
    const [id = ''] = await stage.run('first', 1);
    await ruleOf('first', JUDGE);
    const first = { name: 'first', value: true, subject: { execution_id: publicId('execution', id) } };
    const score = await stage.service.call('POST', '/scores', { body: first });
    expect(score).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('the rule "first"') } },
    });
    await stage.service.call('DELETE', '/rules/first');
    expect(await stage.service.call('POST', '/scores', { body: first })).toMatchObject({ status: 201 });
  });

  test('with an evaluator whose scores do not fit their definition is refused, and a fitting one is stored', async () => {
    await define('thumb', { data_type: 'boolean' });
    await define('topic', { data_type: 'categorical' });
    expect(await refused({ evaluators: [{ ...JUDGE, name: 'thumb' }] }, 'evaluators.0')).toContain('set a threshold');
    expect(await refused({ evaluators: [{ ...CONTAINS, name: 'topic' }] }, 'evaluators.0')).toContain('another name');
    await stage.prompt('thumbs');
    const evaluators = [{ ...CONTAINS, name: 'thumb' }];
    expect(await stage.put('thumbs', { prompt_name: 'thumbs', evaluators })).toMatchObject({ status: 200 });
    const [id] = await stage.run('thumbs', 1);
    const rule = await stage.untilRule('thumbs', ({ scored }) => scored === 1);
    expect(rule).toMatchObject({ failed: 0, last_error: null });
    const { body } = await stage.service.call('GET', `/scores?execution_id=${publicId('execution', id ?? '')}`);
    expect(body.data).toMatchObject([{ name: 'thumb', value: true, data_type: 'boolean', source: 'evaluator' }]);
    // A person gives the same score: both are compared.
    await stage.service.call('POST', '/scores', {
      body: {
        name: 'thumb',
        value: true,
        subject: { execution_id: publicId('execution', id ?? '') },
        source: 'person',
      },
    });
    const agreement = await stage.service.call('GET', '/evaluators/agreement?score=thumb&rule=thumbs');
    expect(agreement).toMatchObject({ status: 200, body: { evaluators: [{ rule: 'thumbs', n: 1, same: 1 }] } });
    const judged = { ...JUDGE, name: 'thumb', threshold: 0.5 };
    expect(await stage.put('thumbs', { prompt_name: 'thumbs', evaluators: [judged], enabled: false })).toMatchObject({
      status: 200,
    });
  });

  test('lists rules by name in pages', async () => {
    for (const name of ['list/a', 'list/b', 'list/c'])
      await stage.put(name, { evaluators: [CONTAINS], enabled: false });
    const names: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await stage.service.call('GET', `/rules?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      names.push(...body.data.map(({ name }: { name: string }) => name));
      cursor = body.next_cursor;
    }
    expect(names.filter((name) => name.startsWith('list/'))).toEqual(['list/a', 'list/b', 'list/c']);
    expect(names).toEqual(names.toSorted());
  });

  test('shows the secret of a scorer once, and keeps it when the rule is replaced', async () => {
    const scorer = { type: 'http', url: 'http://127.0.0.1:4000/score' };
    const [first, again] = [
      await stage.put('secret', { evaluators: [scorer], enabled: false }),
      await stage.put('secret', { evaluators: [scorer], enabled: false, sample_rate: 0.5 }),
    ];
    expect(first.body.evaluators[0].secret).toMatch(/^whsec_/);
    expect(again.body.evaluators[0]).not.toHaveProperty('secret');
    expect((await stage.rule('secret')).evaluators[0]).not.toHaveProperty('secret');
  });
});
