import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCall, startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { labelOf, seedPrompt, untilStatus } from '../releases/releases-support.ts';
import { modelCall, newTraceId, send, span } from '../traces/traces-support.ts';
import { createKey } from '../workspace.ts';
import { connect, type McpStage, REVISIONS, type Revision } from './mcp-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const HOUR = { type: 'wait', for: '1h' };
const CANARY = { type: 'canary', percent: 100 };

describe.each(REVISIONS)('the tools, by the revision %s of the protocol,', (revision: Revision) => {
  let mcp: McpStage;
  const at = `mcp-${revision}`;
  beforeAll(async () => {
    mcp = await connect(service, revision);
  });
  afterAll(() => mcp?.close());

  const get = async (path: string) => (await service.call('GET', path)).body;

  /** Runs an evaluation of a version and waits for its end. */
  async function evaluate(version: number, expected: string) {
    const { id } = await mcp.result('run_evaluation', {
      prompt_name: `${at}/evaluated`,
      version,
      examples: [
        { id: 'one', variables: { q: 'a' }, expected },
        { id: 'two', variables: { q: 'b' }, expected: 'nothing like it' },
      ],
      evaluators: [{ type: 'contains', value: expected }],
      max_cost: 1,
    });
    const ended = await until(`evaluation ${id}`, async () => {
      const run = await mcp.result('get_evaluation', { id });
      return run.status === 'completed' && run;
    });
    expect(ended.examples_evaluated).toBe(2);
    return ended;
  }

  test('create, find, read, change and compare prompts', async () => {
    const name = `${at}/greeting`;
    const created = await mcp.result('create_prompt', {
      name,
      template: 'Greet {{ name }}.',
      model: 'sandbox/echo',
      description: 'Says hello',
      base_version: 0,
    });
    expect(created).toMatchObject({ name, version: 1, variables: ['name'] });
    expect(await get(`/prompts/${name}`)).toEqual(created);
    const changed = await mcp.result('create_prompt_version', {
      name,
      template: 'Greet {{ name }} warmly.',
      base_version: 1,
      commit_message: 'Warmer',
    });
    expect(changed).toMatchObject({ version: 2, commit_message: 'Warmer', description: 'Says hello' });
    const warned = { name: `${at}/warned`, template: '{{ user.name }}', model: 'sandbox/echo' };
    expect((await mcp.result('create_prompt', warned)).warnings).toMatchObject([{ path: 'template' }]);
    await mcp.result('archive_prompt', { name: warned.name });
    const late = await mcp.tool('create_prompt_version', { name, template: 'Other', base_version: 1 });
    expect(late).toMatchObject({ isError: true, body: { error: { code: 'version_conflict' } } });

    const found = await mcp.result('search_prompts', { q: 'hello', group: at });
    expect(found.data.map((prompt: { name: string }) => prompt.name)).toEqual([name]);
    expect(await mcp.result('get_prompt', { name, version: 1 })).toMatchObject({ template: 'Greet {{ name }}.' });
    const versions = await mcp.result('list_prompt_versions', { name, limit: 1 });
    expect(versions.data).toMatchObject([{ version: 2 }]);
    const older = await mcp.result('list_prompt_versions', { name, limit: 1, cursor: versions.next_cursor });
    expect(older).toMatchObject({ data: [{ version: 1 }], next_cursor: null });
    const { changes } = await mcp.result('diff_prompt_versions', { name, from: 1, to: 2 });
    expect(changes).toMatchObject([{ path: 'template', diff: expect.stringContaining('+Greet {{ name }} warmly.') }]);

    expect((await mcp.result('move_label', { name, label: 'staging', version: 2 })).labels).toEqual(['staging']);
    expect((await get(`/prompts/${name}?label=staging`)).version).toBe(2);
    const { data: labels } = await mcp.result('list_labels');
    expect(labels).toEqual((await get('/labels')).data);

    expect((await mcp.result('archive_prompt', { name })).archived).toBe(true);
    const refused = await mcp.tool('run_prompt', { prompt_name: name, variables: { name: 'Ada' } });
    expect(refused).toMatchObject({ isError: true, body: { error: { code: 'prompt_archived' } } });
    expect((await mcp.result('restore_prompt', { name })).archived).toBe(false);
  });

  test('run prompts, and find the runs', async () => {
    const name = `${at}/run`;
    await mcp.result('create_prompt', { name, template: 'Say {{ text }}', model: 'sandbox/echo' });
    const run = await mcp.result('run_prompt', { prompt_name: name, variables: { text: 'hi' } });
    expect(run).toMatchObject({ status: 'completed', output: expect.stringContaining('hi') });
    expect(await mcp.result('get_execution', { id: run.id })).toEqual(await get(`/executions/${run.id}`));
    const { data } = await mcp.result('search_executions', { prompt_name: name, status: 'completed' });
    expect(data).toMatchObject([{ id: run.id }]);

    const search = { q: '"Say hi"', metadata: ['customer=acme'], max_latency_ms: 600_000, prompt_name: name };
    expect((await mcp.result('search_executions', search)).data).toEqual([]);
    const known = await mcp.result('run_prompt', {
      prompt_name: name,
      variables: { text: 'hi' },
      metadata: { customer: 'acme' },
    });
    expect((await mcp.result('search_executions', search)).data).toMatchObject([{ id: known.id }]);
    const counts = await mcp.result('count_executions', search);
    expect(counts).toMatchObject({
      counted: 1,
      complete: true,
      facets: { status: [{ value: 'completed', count: 1 }] },
    });
    const nothing = await mcp.tool('search_executions', { q: '"open' });
    expect(nothing.body.error).toMatchObject({ code: 'invalid_request', details: [{ path: 'q' }] });

    const slow = await mcp.tool('run_prompt', {
      prompt_name: name,
      variables: { text: 'hi' },
      model: 'sandbox/stall',
      wait_seconds: 0,
    });
    const { id } = slow.body.result;
    expect(slow.body.note).toContain(`get_execution and id ${id}`);
    expect(await mcp.result('cancel_execution', { id })).toMatchObject({ status: 'canceled' });

    const once = { prompt_name: name, variables: { text: 'once' }, idempotency_key: `${at}-once` };
    const [first, second] = [await mcp.result('run_prompt', once), await mcp.result('run_prompt', once)];
    expect(second.id).toBe(first.id);
    const other = await mcp.tool('run_prompt', { ...once, variables: { text: 'other' } });
    expect(other.body.error.code).toBe('idempotency_key_reused');

    expect((await mcp.result('list_providers')).data).toEqual((await get('/providers')).data);
    expect((await mcp.result('get_usage', { prompt_name: name })).data).toMatchObject([
      { completed: 3, model: 'sandbox/echo' },
      { completed: 0, model: 'sandbox/stall' },
    ]);
    const since = new Date(Date.now() - 86_400_000).toISOString();
    const { until: _now, ...statistics } = await mcp.result('get_prompt_statistics', { name, since });
    expect(await get(`/statistics/prompts/${name}?since=${since}`)).toMatchObject(statistics);
  });

  test('find runs of agents, and read their steps and conversations', async () => {
    const traceId = newTraceId();
    const attributes = modelCall(52, 9, { 'session.id': at });
    const step = span({ traceId, name: at, attributes });
    expect((await send(service.call, [step])).status).toBe(200);
    const { data } = await mcp.result('search_traces', { name: at });
    expect(data).toEqual([await mcp.result('get_trace', { id: traceId })]);
    expect(await mcp.result('count_traces', { name: at })).toMatchObject({
      counted: 1,
      facets: { status: [{ value: 'ok' }] },
    });
    const steps = await mcp.result('list_trace_steps', { id: traceId });
    expect(steps.data).toMatchObject([{ id: step.spanId, type: 'model' }]);
    const whole = await mcp.result('get_trace_step', { id: traceId, span_id: step.spanId });
    expect(whole).toMatchObject({ output: 'Yes.', execution_id: steps.data[0].execution_id });
    const { data: conversations } = await mcp.result('list_conversations', { limit: 100 });
    expect(conversations.find(({ id }: { id: string }) => id === at)).toMatchObject({ traces: 1 });
    expect(await mcp.result('get_conversation', { name: at })).toMatchObject({ id: at, data });
    const kept = await mcp.result('add_traces_to_dataset', { name: `${at}/kept`, traces: [{ trace_id: data[0].id }] });
    expect(kept).toMatchObject({ version: 1, added: 1 });
  });

  test('evaluate, compare, and show problems', async () => {
    const name = `${at}/evaluated`;
    const named = at.replaceAll('/', '-');
    await seedPrompt(service.call, name);
    const { data: types } = await mcp.result('list_evaluators', {});
    expect(types.length).toBeGreaterThan(5);
    const estimate = await mcp.result('estimate_evaluation', {
      prompt_name: name,
      examples: [{ variables: { q: 'a' } }],
      evaluators: [{ type: 'contains', value: 'a' }],
    });
    expect(estimate).toMatchObject({ examples: 1 });

    const tried = await mcp.result('try_evaluators', {
      evaluators: [
        { type: 'contains', values: ['Ada'] },
        { type: 'llm_judge', model: 'sandbox/judge', rubric: 'Is it the expected text?' },
      ],
      output: 'Hello Ada',
      expected: 'Hello Ada',
    });
    expect(tried).toMatchObject({ score: 1, scores: [{ type: 'contains' }, { problem: null }] });
    const waited = await mcp.result('try_evaluators', {
      evaluators: [{ type: 'llm_judge', model: 'sandbox/stall', rubric: 'Is it polite?' }],
      output: 'Hello',
      wait_seconds: 0,
    });
    expect(waited.scores).toMatchObject([{ problem: 'timed_out', execution_id: expect.stringMatching(/^exec_/) }]);
    await mcp.result('cancel_execution', { id: waited.scores[0].execution_id });

    const one = await evaluate(1, 'Version 1');
    const two = await evaluate(2, 'Version 1');
    expect([one.score, two.score]).toEqual([1, 0]);
    const { data: runs } = await mcp.result('list_evaluations', { prompt_name: name });
    expect(runs.map(({ id }: { id: string }) => id)).toEqual([two.id, one.id]);
    const worse = await mcp.result('list_failures', { id: two.id, kind: 'regressed' });
    expect(worse.data.map((each: { regression: boolean }) => each.regression)).toEqual([true, true]);
    expect((await mcp.result('list_failures', { id: two.id })).data).toHaveLength(2);
    expect((await mcp.result('list_failures', { id: two.id, kind: 'failed' })).data).toEqual([]);
    expect((await mcp.result('list_failures', { id: one.id, max_score: 0.9 })).data).toEqual([]);
    const { data: results } = await mcp.result('list_evaluation_results', { id: two.id, example_id: 'one' });
    const { seq } = results[0];
    expect(await mcp.result('get_evaluation_result', { id: two.id, seq })).toMatchObject({
      example_id: 'one',
      score: 0,
    });
    const sorted = await mcp.result('list_evaluation_results', { id: one.id, sort: '-score', limit: 1 });
    const rest = await mcp.result('list_evaluation_results', {
      id: one.id,
      sort: '-score',
      cursor: sorted.next_cursor,
    });
    expect([sorted, rest].flatMap(({ data }) => data)).toHaveLength(2);
    const about = { id: two.id, q: 'NOTHING like' };
    expect((await mcp.result('list_failures', { ...about, sort: 'score' })).data).toMatchObject([
      { example_id: 'two' },
    ]);
    expect(await mcp.result('summarize_evaluation_results', about)).toMatchObject({ results: 1, passed: 0 });
    const comparison = await mcp.result('compare_evaluations', { id: two.id, other: one.id });
    expect(comparison).toEqual(await get(`/evaluations/${two.id}/compare/${one.id}`));

    const { id: drafted } = await mcp.result('run_evaluation', {
      prompt_name: name,
      draft: { template: 'Shout {{ q }}.' },
      examples: [{ id: 'one', variables: { q: 'a' }, expected: 'Shout a.' }],
      evaluators: [{ type: 'exact_match' }],
      max_cost: 1,
    });
    const ended = await until('the run of the draft', async () => {
      const run = await mcp.result('get_evaluation', { id: drafted });
      return run.status === 'completed' && run;
    });
    expect(ended).toMatchObject({ score: 1, prompt_version: 0, examples_failed: 0 });
    const { data: listed } = await mcp.result('list_evaluations', { prompt_name: name });
    expect(listed[0]).toMatchObject({ id: drafted, prompt_version: 0 });
    const { data: low } = await mcp.result('list_failures', { id: drafted });
    expect(low).toEqual([]);

    const { id: stalled } = await mcp.result('run_evaluation', {
      prompt_name: name,
      examples: [{ variables: { q: 'a' } }],
      evaluators: [{ type: 'contains', value: 'a' }],
    });
    await mcp.tool('cancel_evaluation', { id: stalled });
    await until('its end', async () =>
      ['canceled', 'completed'].includes((await get(`/evaluations/${stalled}`)).status),
    );

    const made = await mcp.result('run_prompt', { prompt_name: name, variables: { q: 'c' } });
    const dataset = await mcp.result('create_dataset_from_executions', {
      name: `${named}-set`,
      execution_ids: [made.id],
    });
    expect(dataset).toMatchObject({ name: `${named}-set` });
    await service.call('POST', '/scores', {
      body: { name: 'tool-judged', value: true, subject: { execution_id: made.id }, source: 'person' },
    });
    expect(
      await mcp.result('create_dataset_from_scores', { name: `${named}-judged`, score: 'tool-judged' }),
    ).toMatchObject({ name: `${named}-judged` });
    expect(
      await mcp.result('generate_dataset_examples', { name: `${named}-set`, prompt_name: name, model: 'sandbox/echo' }),
    ).toMatchObject({ examples: [], status: 'completed' });
    const { data: sets } = await mcp.result('list_datasets');
    expect(sets.map((each: { name: string }) => each.name)).toContain(`${named}-set`);
    const grown = await mcp.result('add_dataset_examples', {
      name: `${named}-set`,
      examples: [{ id: 'mine', variables: { q: 'd' } }],
    });
    expect(grown).toMatchObject({ version: 2, examples_total: 2, added: 1 });
    const { data: examples } = await mcp.result('list_dataset_examples', { name: `${named}-set` });
    expect(examples).toMatchObject([{ variables: { q: 'c' } }, { variables: { q: 'd' } }]);
  });

  test('start, watch and steer releases', async () => {
    const name = `${at}/released`;
    await seedPrompt(service.call, name);
    const start = (steps: unknown[], more = {}) =>
      mcp.result('start_release', { prompt_name: name, label: 'production', version: 2, steps, ...more });

    const { id } = await start([CANARY, HOUR], { reason: 'Better' });
    await untilStatus(service.call, id, 'in_progress');
    expect(await mcp.result('get_release', { id })).toMatchObject({ reason: 'Better', candidate_version: 2 });
    expect((await mcp.result('list_releases', { prompt_name: name })).data).toMatchObject([{ id }]);
    expect(await mcp.result('get_release_numbers', { id, unit: 'hour' })).toHaveProperty('data');
    expect(await mcp.result('pause_release', { id, comment: 'lunch' })).toMatchObject({ status: 'paused' });
    expect(await mcp.result('resume_release', { id })).toMatchObject({ status: 'in_progress' });
    expect(await mcp.result('rollback_release', { id })).toMatchObject({ status: 'rolled_back' });
    expect(await labelOf(service.call, name)).toBe(1);

    const canceled = await start([CANARY, HOUR]);
    expect(await mcp.result('cancel_release', { id: canceled.id })).toMatchObject({ status: 'canceled' });

    const asked = { type: 'approve', count: 1, exclude_author: false };
    const rejected = await start([asked, HOUR]);
    const ended = await until('the rejection', async () => {
      const answer = await mcp.tool('reject_release', { id: rejected.id, comment: 'No' });
      return answer.isError ? undefined : answer.body.result;
    });
    expect(ended.status).toBe('rejected');

    const approved = await start([asked, HOUR]);
    const approval = await until('the approval', async () => {
      const answer = await mcp.tool('approve_release', { id: approved.id, comment: 'Yes' });
      return answer.isError ? undefined : answer.body.result;
    });
    expect(approval.approvals).toMatchObject([{ comment: 'Yes' }]);
    expect(await mcp.result('promote_release', { id: approved.id })).toMatchObject({ status: 'succeeded' });
    expect(await labelOf(service.call, name)).toBe(2);
  });

  test('search for a better prompt, and accept what was found', async () => {
    const name = `${at}/improved`;
    await service.call('POST', '/prompts', { body: { name, template: 'Say {{ q }}', model: 'sandbox/echo' } });
    await service.call('PUT', `/datasets/${name}`, {
      raw: Array.from({ length: 160 }, (_, q) => JSON.stringify({ variables: { q }, expected: 'x' })).join('\n'),
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    const wanted = {
      prompt_name: name,
      dataset: name,
      reflection: { model: 'sandbox/echo' },
      max_cost: null,
      few_shot: 1,
      max_proposals: 4,
    };
    const run = await mcp.result('run_prompt', { prompt_name: name, variables: { q: 'c' } });
    expect(
      await mcp.result('suggest_prompt', { prompt_name: name, execution_ids: [run.id], model: 'sandbox/echo' }),
    ).toMatchObject({
      content: null,
      reject: { code: expect.any(String) },
      measured: false,
    });
    expect(await mcp.result('estimate_improvement', wanted)).toMatchObject({ reflections: 4 });
    const { id } = await mcp.result('start_improvement', wanted);
    await mcp.result('finish_improvement', { id });
    const ended = await until('its verdict', async () => {
      const found = await mcp.result('get_improvement', { id });
      return found['status'] === 'completed' ? found : undefined;
    });
    expect(ended).toMatchObject({ verdict: { result: 'no_candidate' } });
    expect((await mcp.result('list_improvements', { prompt_name: name })).data).toMatchObject([{ id }]);

    const other = await mcp.result('start_improvement', wanted);
    const candidates = await until('a candidate that shows an example', async () => {
      const { data } = await mcp.result('list_improvement_candidates', { id: other.id });
      return data[3]?.content ? data : undefined;
    });
    expect(candidates[3]).toMatchObject({ kind: 'few_shot' });
    const canceled = await mcp.tool('cancel_improvement', { id: other.id });
    // It may have ended before.
    if (canceled.isError) expect(canceled.body.error).toMatchObject({ code: 'invalid_state' });
    const accepted = await until('its end', async () => {
      const answer = await mcp.tool('accept_improvement', { id: other.id, candidate: 3, unproved: true });
      return answer.isError ? undefined : answer.body.result;
    });
    expect(accepted).toMatchObject({ accepted: { version: 2 } });
  });

  test('score, and work on queues', async () => {
    const name = `${at}-queue`;
    await seedPrompt(service.call, `${at}/reviewed`);
    await service.call('PUT', '/score-definitions/helpful', { body: { data_type: 'boolean' } });
    await service.call('PUT', `/queues/${name}`, { body: { score_names: ['helpful'] } });
    const ids: string[] = [];
    for (const _ of [1, 2, 3]) {
      const { id } = await mcp.result('run_prompt', { prompt_name: `${at}/reviewed`, variables: { q: 'x' } });
      ids.push(id);
    }
    expect(await mcp.result('add_queue_items', { name, execution_ids: ids })).toEqual({ added: 3, present: 0 });
    expect((await mcp.result('list_queues')).data).toContainEqual(expect.objectContaining({ name }));

    const { item } = await mcp.result('next_queue_item', { name });
    const completed = await mcp.result('complete_queue_item', {
      name,
      id: item.id,
      scores: [{ name: 'helpful', value: true }],
    });
    expect(completed).toMatchObject({ id: item.id });
    const next = (await mcp.result('next_queue_item', { name })).item;
    expect(next.id).not.toBe(item.id);
    await mcp.result('return_queue_item', { name, id: next.id });
    const again = (await mcp.result('next_queue_item', { name })).item;
    await mcp.result('skip_queue_item', { name, id: again.id });
    expect((await get(`/queues/${name}`)).progress).toMatchObject({ completed: 1 });

    const score = await mcp.result('create_score', {
      name: 'helpful',
      value: false,
      subject: { execution_id: ids[0] },
      comment: 'Too long',
    });
    expect(score).toMatchObject({ value: false, source: 'api' });
    const { data } = await mcp.result('list_scores', { execution_id: ids[0] });
    expect(data).toContainEqual(expect.objectContaining({ id: score.id, comment: 'Too long' }));
    expect(await mcp.result('summarize_scores', { name: 'helpful' })).toHaveProperty('data');
  });

  test('were all called, and all describe themselves correctly', async () => {
    const { tools } = await mcp.client.listTools();
    expect(new Set(tools.map(({ name }) => name))).toEqual(mcp.called);
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
    for (const { name, annotations, description, title } of tools) {
      expect([name, title, description]).toEqual([name, expect.stringMatching(/./), expect.stringMatching(/.{20}/)]);
      expect(Object.keys(annotations ?? {}).sort()).toEqual(
        ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint', 'title'].sort(),
      );
    }
    expect(hints['get_prompt']).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(hints['move_label']).toMatchObject({ readOnlyHint: false, destructiveHint: true, idempotentHint: true });
    expect(hints['run_prompt']).toMatchObject({ readOnlyHint: false, openWorldHint: true });
  });
});

test('that only read declare it, and change nothing', async () => {
  const reader = await connect({ ...service, ...(await createKey(service, 'read')) });
  const { tools } = await reader.client.listTools();
  expect(tools.length).toBeGreaterThan(15);
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  await reader.close();
  expect((await createCall(service.origin, service.key)('GET', '/prompts')).status).toBe(200);
});
