import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { parsePublicId } from '../../src/domain/ids.ts';
import { sumUpUsage } from '../../src/jobs/sum-up-usage.ts';
import { usageSpan } from '../../src/services/usage/usage-span.ts';
import { seedEvaluation, seedExecutions, seedJudgements } from '../support/seed-rows.ts';
import { waitFor } from '../support/wait-for.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations/evaluations-support.ts';
import { createOtherWorkspace } from './workspace.ts';

const HOUR_MS = 3_600_000;
const JUDGE = { type: 'llm_judge', model: 'gpt-4o-mini', rubric: 'Be kind.' };
const GROUPINGS = ['prompt,model,day', 'prompt', 'model', 'day', 'day,model', ''];

let stage: EvaluationStage;
let judgements = 0;
let other: Awaited<ReturnType<typeof createOtherWorkspace>>;
/** Where rows contain usage: the sums must equal a scan of all of them. */
const BY_ROWS = `
  select w.name as workspace, calls.* from (
    select workspace_id, 'data' as list, prompt_name, model, created_at, 'executions' as counted, status, answered_at is not null as answered,
      tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount,
      case when reused_from is null then model_ms end as timed_ms from executions
    union all
    select e.workspace_id, 'evaluations', e.prompt_name, e.model, r.created_at, 'examples', null, r.finish_reason is not null,
      r.tokens_input, r.tokens_output, r.tokens_cached_input, r.tokens_reasoning, r.cost_amount, r.model_ms
    from evaluations e join evaluation_results r on r.evaluation_id = e.id where r.attempts > 0
    union all
    select e.workspace_id, 'evaluations', e.prompt_name, config->>'model', j.created_at, 'judgements', null, true,
      j.tokens_input, j.tokens_output, j.tokens_cached_input, j.tokens_reasoning, j.cost_amount, null
    from evaluations e join evaluation_judgements j on j.evaluation_id = e.id
      join lateral jsonb_array_elements(e.evaluators) as config on config->>'name' = j.evaluator
  ) as calls join workspaces w on w.id = calls.workspace_id`;

const query = () => stage.service.dependencies.db.system.query;

/** The answer of `GET /usage`, from a copy of all rows. */
async function expected(
  list: 'data' | 'evaluations',
  groupBy: string,
  since: Date,
  until: Date,
  workspace = 'default',
) {
  const columns = groupBy.split(',').filter((group) => group !== '');
  const names = columns.map((group) => (group === 'prompt' ? 'prompt_name' : group));
  const counts = {
    data: `count(*)::int as executions, count(*) filter (where status = 'completed')::int as completed,
           count(*) filter (where status = 'failed')::int as failed`,
    evaluations: `count(*) filter (where counted = 'examples')::int as examples,
                  count(*) filter (where counted = 'judgements')::int as judgements`,
  };
  const [row] = await query()<{ answer: unknown }>(
    {
      text: `select coalesce(json_agg(to_jsonb(sums) - 'cost_amount' || jsonb_build_object('cost', jsonb_build_object('amount', cost_amount, 'currency', 'USD'))), '[]') as answer
             from (
               select ${names.map((name) => `${name}, `).join('')} ${counts[list]},
                 jsonb_build_object('input', coalesce(sum(tokens_input), 0), 'output', coalesce(sum(tokens_output), 0), 'cached_input',
                   coalesce(sum(tokens_cached_input), 0), 'reasoning', coalesce(sum(tokens_reasoning), 0), 'total',
                   coalesce(sum(tokens_input + tokens_output), 0)) as tokens,
                 case when count(cost_amount) = 0 and count(*) filter (where answered) > 0 then null
                   else trim_scale(coalesce(sum(cost_amount), 0))::text end as cost_amount,
                 count(*) filter (where answered and cost_amount is null)::int as unpriced,
                 jsonb_build_object('mean_ms', round(avg(timed_ms)), 'responses', count(timed_ms)) as latency
               from (select *, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day from by_rows) as by_rows
               where list = $1 and workspace = $2 and created_at >= $3 and created_at < $4
               ${names.length === 0 ? '' : `group by ${names.join(', ')} order by ${names.join(', ')}`}
             ) as sums`,
    },
    [list, workspace, since, until],
  );
  return row?.answer;
}

async function expectToAgree(
  since: Date,
  until: Date,
  groupings = GROUPINGS,
  { call, workspace } = { call: stage.service.call, workspace: 'default' },
) {
  const { since: from, until: to } = usageSpan(since, until, new Date());
  for (const groupBy of groupings) {
    const path = `/usage?since=${since.toISOString()}&until=${until.toISOString()}&group_by=${groupBy}`;
    const { status, body } = await call('GET', path);
    expect(status).toBe(200);
    expect(body.data).toEqual(await expected('data', groupBy, from, to, workspace));
    expect(body.evaluations).toEqual(await expected('evaluations', groupBy, from, to, workspace));
  }
}

const keepRows = async () => {
  await query()({ text: 'drop table if exists by_rows' });
  await query()({ text: `create table by_rows as ${BY_ROWS}` });
};
const run = (body: object, headers = {}) =>
  stage.service.call('POST', '/executions', {
    body: { prompt_name: 'say', variables: { text: 'x' }, ...body },
    headers,
  });
const daysAgo = (days: number) => new Date(Date.now() - days * 24 * HOUR_MS);

beforeAll(async () => {
  stage = await startStage(
    {
      answer: ({ prompt }) => {
        // A judge's first responses are unusable, so it is called again.
        const unusable = prompt.startsWith('You grade') && judgements++ % 3 === 0;
        const text = prompt.startsWith('You grade') ? '{"reason": "fine", "score": 5}' : `Answer to: ${prompt}`;
        return { text: unusable ? 'hm' : text, usage: { input: 1_000 + prompt.length, output: 100 } };
      },
    },
    {},
    'sums up what all workspaces have used',
  );
  other = await createOtherWorkspace(stage.service, 'other');
  await other.call('POST', '/prompts', { body: { name: 'say', template: 'Say it', model: 'sandbox/echo' } });
  await stage.prompt('free', 'Free {{ text }}', 'sandbox/echo');
  await stage.prompt('broken', 'Broken {{ text }}', 'sandbox/fail');
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

test('the sums match the rows, whatever their outcome, and stay when the rows are deleted', async () => {
  const { db } = stage.service.dependencies;
  const begun = new Date();
  // Nothing is summed up but here.
  const sumUp = () => sumUpUsage(db.system);

  await Promise.all(Array.from({ length: 6 }, (_, n) => run({ prompt_name: n % 2 ? 'say' : 'free' })));
  await Promise.all([
    run({ prompt_name: 'broken' }),
    run({ prompt_name: 'broken' }),
    other.call('POST', '/executions', { body: { prompt_name: 'say' } }),
  ]);
  expect((await run({ reuse: { max_age: 3_600 } })).body.reused_from).not.toBeNull();
  await sumUp();
  const half = new Date();
  stage.openai.behave({ mode: 'stall', matching: 'stalled' });
  const stalled = await run({ variables: { text: 'stalled' } }, { Prefer: 'respond-async' });
  const canceled = await run({ variables: { text: 'stalled' } }, { Prefer: 'respond-async' });
  await stage.service.call('POST', `/executions/${canceled.body.id}/cancel`);
  await waitFor('the stalled call', async () => stage.openai.countBy('Say stalled') > 0);

  stage.openai.behave({ mode: 'fail', status: 400, matching: 'bad 3' });
  const failing = await stage.run({ examples: examplesOf('bad', 8), evaluators: [{ type: 'exact_match' }, JUDGE] });
  expect(failing.examples_failed).toBe(1);
  stage.openai.behave();
  await stage.control(failing.id, 'retry');
  await stage.until(failing.id, 'completed');
  await stage.run({ prompt_name: 'free', examples: examplesOf('free', 5), evaluators: [JUDGE] });
  // A model without a price, and a response that arrives after the execution has been canceled.
  await query()({
    text: `update executions set cost_amount = null where prompt_name = 'free' and workspace_id = (select id from workspaces where name = 'default')`,
  });
  await query()(
    { text: 'update executions set tokens_output = 77, cost_amount = 0.5, answered_at = now() where id = $1' },
    [parsePublicId('execution', canceled.body.id)],
  );

  await keepRows();
  const now = new Date(Date.now() + HOUR_MS);
  const spans: [Date, Date][] = [
    [begun, now],
    [half, now],
    [begun, half],
    [daysAgo(30), now],
    [daysAgo(1), half],
    [daysAgo(2), daysAgo(1)],
  ];
  const [finest, coarsest] = ['prompt,model,day', ''];
  for (const span of spans) await expectToAgree(...span, [finest, coarsest]);
  await Promise.all([sumUp(), sumUp(), sumUp()]);
  expect(await query()({ text: 'select 1 from usage_entries where not summed' })).toEqual([]);
  for (const span of spans) await expectToAgree(...span);
  expect((await other.call('GET', '/usage?group_by=')).body).toMatchObject({
    data: [{ executions: 1 }],
    evaluations: [{ examples: 0 }],
  });

  await stage.service.call('POST', `/executions/${stalled.body.id}/cancel`);
  await keepRows();
  await query()({ text: 'delete from evaluations' });
  await query()({ text: 'delete from executions' });
  for (const span of spans) await expectToAgree(...span, [finest, coarsest]);
});

test('any span is totaled exactly within the last two hours, and by whole hours before, over days and months', async () => {
  const { db } = stage.service.dependencies;
  const { call } = await createOtherWorkspace(stage.service, 'seeded');
  const [owner] = await query()<{ id: string }>({ text: `select id from workspaces where name = 'seeded'` });
  const seed = { workspaceId: owner?.id ?? '', days: 5 };
  const agree = (since: Date, until: Date) =>
    expectToAgree(since, until, ['prompt,model,day', ''], { call, workspace: 'seeded' });
  await seedExecutions(query(), { ...seed, count: 2_000 });
  await seedJudgements(query(), await seedEvaluation(query(), { ...seed, count: 1_500 }));
  // Part of it has been summed up, part has not.
  await sumUpUsage(db.system);
  await seedExecutions(query(), { ...seed, count: 300 });
  await keepRows();
  const times = [
    daysAgo(40),
    daysAgo(5),
    daysAgo(4.3),
    daysAgo(3.01),
    daysAgo(3),
    daysAgo(1.6),
    ...[26, 5.5, 1.9, 1.2, 0.4, 0.1].map((hours) => new Date(Date.now() - hours * HOUR_MS)),
    new Date(Date.now() + 1),
  ];
  // Each time is the start of some ranges and the end of others, short and long: half of all.
  for (const [from, since] of times.entries())
    for (const [to, until] of times.entries()) if (to > from && (to - from) % 2 === 1) await agree(since, until);
  // Old entries are deleted once they are in the sums.
  const kept = { text: `select 1 from usage_entries where created_at < now() - interval '3 hours'` };
  await sumUpUsage(db.system);
  expect(await query()(kept)).toEqual([]);
  await agree(daysAgo(4.3), new Date());
});

test('sums from before times were kept have no latency, and do not lower the mean of later ones', async () => {
  const { call } = await createOtherWorkspace(stage.service, 'older');
  const add = (day: string, columns = '', values = '') =>
    query()({
      text: `insert into usage_sums (workspace_id, unit, starts_at, kind, prompt_name, model, calls, completed, failed, tokens_input,
               tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced${columns})
             select id, 'day', '${day}T00:00:00Z', 'execution', 'say', 'sandbox/echo', 4, 4, 0, 1, 1, 0, 0, 0, 4, 0${values}
             from workspaces where name = 'older'`,
    });
  await add('2026-01-01');
  await add('2026-01-02', ', timed, model_ms', ', 3, 500');
  const span = 'since=2026-01-01T00:00:00Z&until=2026-01-03T00:00:00Z';
  expect((await call('GET', `/usage?${span}&group_by=day`)).body.data).toMatchObject([
    { executions: 4, latency: { mean_ms: null, responses: 0 } },
    { executions: 4, latency: { mean_ms: 167, responses: 3 } },
  ]);
  expect((await call('GET', `/usage?${span}&group_by=`)).body.data).toMatchObject([
    { executions: 8, latency: { mean_ms: 167, responses: 3 } },
  ]);
});
