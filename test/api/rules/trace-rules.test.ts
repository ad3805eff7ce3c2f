import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { expireTraces } from '../../../src/services/traces/delete-traces.ts';
import { startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait-for.ts';
import { agent, DONE, modelCall, newSpanId, newTraceId, send, settled, span } from '../traces/traces-support.ts';
import { createOtherWorkspace } from '../workspace.ts';
import { type RuleStage, startRuleStage } from './rules-support.ts';

const JUDGE = { type: 'llm_judge', name: 'solved', model: 'openai/gpt-4o-mini', rubric: 'It was solved.' };
const JUDGE_USD = (1_000 * 0.15 + 100 * 0.6) / 1e6;
const CONTAINS = { type: 'contains', value: 'umbrella' };

let stage: RuleStage;
beforeAll(async () => {
  stage = await startRuleStage({
    answer: () => ({ text: '{"reason": "It was.", "score": 4}', usage: { input: 1_000, output: 100 } }),
  });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

const sql = <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
  stage.service.dependencies.db.system.query<Row>({ text }, values);
const scoresOf = async (traceId: string, { call } = stage.service) =>
  (await call('GET', `/scores?trace_id=${traceId}`)).body.data;
const judgementsOf = (traceId: string) =>
  sql<{ answer: string }>(`select answer from trace_judgements where replace(trace_id::text, '-', '') = $1`, [traceId]);
const prompts = () => stage.openai.calls.map(({ prompt }) => prompt);

interface RunOptions {
  /** Names the agent, for the filter of one test. */
  name: string;
  traceId?: string;
  question?: string;
  isDone?: boolean;
}

/** The spans of an agent that asks a model, and a tool. */
function spansOf({ name, traceId = newTraceId(), question = 'Do I need an umbrella?', isDone = true }: RunOptions) {
  const [root, call, tool] = [newSpanId(), newSpanId(), newSpanId()];
  const at = Date.now() - 10_000;
  const spans = [
    span({ traceId, id: call, parent: root, at, attributes: modelCall(5, 2) }),
    span({
      traceId,
      id: tool,
      parent: root,
      at: at + 200,
      name: 'execute_tool weather',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'weather',
        'gen_ai.tool.call.arguments': '{"city":"Basel"}',
        'gen_ai.tool.call.result': 'rain',
      },
    }),
    span({
      traceId,
      id: root,
      at: at - 100,
      ms: 1_000,
      name: 'invoke_agent',
      attributes: agent(0, 0, {
        'gen_ai.agent.name': name,
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: question }] }]),
        'gen_ai.output.messages': JSON.stringify([
          { role: 'assistant', parts: [{ type: 'text', content: 'Take an umbrella.' }] },
        ]),
        ...(isDone ? DONE : {}),
      }),
    }),
  ];
  return { traceId, root, call, tool, spans };
}

async function run(options: RunOptions, { call } = stage.service) {
  const made = spansOf(options);
  expect((await send(call, made.spans)).status).toBe(200);
  await settled({ call }, made.traceId);
  return made;
}

describe('a rule with a filter for traces', () => {
  test('scores a settled trace once, by its input, output, steps and calls of tools, and no execution', async () => {
    const evaluators = [
      JUDGE,
      CONTAINS,
      { type: 'tool_calls', value: [{ name: 'weather', input: { city: 'Basel' } }] },
      { type: 'latency', at_most_ms: 5_000 },
    ];
    const made = await stage.put('of/traces', { trace_filter: { agent: 'one', tool: 'weather' }, evaluators });
    expect(made).toMatchObject({
      status: 200,
      body: { trace_filter: { agent: 'one', tool: 'weather' }, prompt_name: null, filter: null },
    });
    await stage.put('of/others', { trace_filter: { agent: 'one', status: 'error' }, evaluators: [CONTAINS] });
    const { traceId } = await run({ name: 'one' });
    expect(await stage.untilRule('of/traces', ({ scored }) => scored === 1)).toMatchObject({ failed: 0, waiting: 0 });
    const scores = await scoresOf(traceId);
    expect(Object.fromEntries(scores.map((one: { name: string; value: number }) => [one.name, one.value]))).toEqual({
      solved: 0.75,
      contains: 1,
      tool_calls: 1,
      latency: 1,
    });
    expect(scores.find(({ name }: { name: string }) => name === 'solved')).toMatchObject({
      subject: { trace_id: traceId },
      source: 'evaluator',
      comment: 'It was.',
      evaluator: { rule: 'of/traces', model: 'openai/gpt-4o-mini' },
    });
    const [prompt = ''] = prompts().filter((text) => text.includes('Basel'));
    expect(prompt).toContain('Do I need an umbrella?');
    expect(prompt).toContain('Take an umbrella.');
    expect(prompt).toMatch(/3\. tool weather\n {3}input: \{"city":"Basel"\}\n {3}output: rain/);
    expect(await stage.untilRule('of/others', ({ waiting }) => waiting === 0)).toMatchObject({ scored: 0 });
    const { body } = await stage.service.call('GET', `/executions?trace_id=${traceId}`);
    expect(body.data).toHaveLength(1);
    expect((await stage.service.call('GET', `/scores?execution_id=${body.data[0].id}`)).body.data).toEqual([]);
    const usage = (await stage.service.call('GET', '/usage?group_by=prompt,model')).body.rules;
    const paid = usage.find(({ rule }: { rule: string }) => rule === 'of/traces');
    expect(paid).toMatchObject({ judgements: 1 });
    expect(Number(paid.cost.amount)).toBeCloseTo(JUDGE_USD, 9);
    const found = await stage.service.call('GET', `/traces?score=${encodeURIComponent('solved>0.7')}`);
    expect(found.body.data.map(({ id }: { id: string }) => id)).toEqual([traceId]);
  });

  test('lets a scorer of the caller see the whole trace', async () => {
    const scorer = await startReceiver((_, response) => {
      response.end(JSON.stringify({ score: 0.5, reason: 'half of it' }));
    });
    const evaluators = [{ type: 'http', url: scorer.url, name: 'ours' }];
    expect((await stage.put('by/http', { trace_filter: { agent: 'http' }, evaluators })).status).toBe(200);
    const { traceId, tool } = await run({ name: 'http' });
    await stage.untilRule('by/http', ({ scored }) => scored === 1);
    const [request] = await scorer.got(1);
    expect(request?.headers).toMatchObject({ 'x-rule': 'by/http', 'x-trace-id': traceId });
    expect(request?.headers).not.toHaveProperty('x-execution-id');
    expect(request?.body).toEqual({
      input: expect.stringContaining('Do I need an umbrella?'),
      output: 'Take an umbrella.',
      expected: null,
      variables: {},
      tool_calls: [{ id: tool, name: 'weather', input: { city: 'Basel' } }],
      steps: expect.stringContaining('3. tool weather'),
    });
    expect(await scoresOf(traceId)).toMatchObject([{ name: 'ours', value: 0.5, comment: 'half of it' }]);
    await scorer.close();
  });

  test('scores a trace again only if it has changed, and replaces its scores', async () => {
    await stage.put('again', { trace_filter: { agent: 'again' }, evaluators: [JUDGE] });
    const { traceId, root, spans } = await run({ name: 'again' });
    const first = await stage.untilRule('again', ({ scored }) => scored === 1);
    const [before] = await scoresOf(traceId);
    await send(stage.service.call, spans);
    await settled(stage.service, traceId);
    const late = span({ traceId, parent: root, name: 'a late one', attributes: modelCall(7, 3) });
    await send(stage.service.call, [late]);
    await settled(stage.service, traceId);
    const second = await stage.untilRule('again', ({ scored }) => scored === 2);
    expect(Number(second.spent)).toBeCloseTo(2 * Number(first.spent), 9);
    const after = await scoresOf(traceId);
    expect(after).toHaveLength(1);
    expect(after[0].id).toBe(before.id);
    expect(prompts().filter((text) => text.includes('4. model a late one'))).toHaveLength(1);
  });

  test('skips traces beyond its budget, and samples them', async () => {
    const rule = { trace_filter: { agent: 'dear' }, evaluators: [JUDGE] };
    await stage.put('dear', { ...rule, max_cost_per_day: 2.5 * JUDGE_USD });
    await stage.put('none', { trace_filter: { agent: 'dear' }, evaluators: [CONTAINS], sample_rate: 0 });
    await Promise.all(Array.from({ length: 6 }, () => run({ name: 'dear' })));
    const spent = await stage.untilRule('dear', (each) => each.scored + each.skipped_budget === 6);
    expect(spent.skipped_budget).toBeGreaterThanOrEqual(3);
    expect(Number(spent.spent)).toBeLessThanOrEqual(2.5 * JUDGE_USD);
    expect(await stage.untilRule('none', ({ waiting }) => waiting === 0)).toMatchObject({ scored: 0 });
  });

  test('shows judges what the policy of traces has left of the texts', async () => {
    const own = await createOtherWorkspace(stage.service, 'masked-traces');
    await own.call('PUT', '/trace-policy', { body: { mask: ['email'] } });
    const body = { trace_filter: {}, evaluators: [JUDGE] };
    expect((await own.call('PUT', '/rules/masked', { body })).status).toBe(200);
    const { traceId } = await run({ name: 'masked', question: 'Ask ada@example.com' }, { ...stage.service, ...own });
    await until('it is scored', async () => (await own.call('GET', '/rules/masked')).body.scored === 1);
    expect(prompts().some((text) => text.includes('Ask '))).toBe(true);
    expect(prompts().some((text) => text.includes('ada@example.com'))).toBe(false);
    expect((await own.call('GET', `/scores?trace_id=${traceId}`)).body.data).toHaveLength(1);
  });

  test('is of one workspace, even if two have a trace of the same id', async () => {
    const own = await createOtherWorkspace(stage.service, 'same-trace');
    const caller = { ...stage.service, ...own };
    const body = { trace_filter: { agent: 'same' }, evaluators: [JUDGE] };
    await own.call('PUT', '/rules/same', { body });
    const { traceId } = await run({ name: 'same' });
    await run({ name: 'same', traceId }, caller);
    await until('it is scored', async () => (await own.call('GET', '/rules/same')).body.scored === 1);
    expect(await scoresOf(traceId, caller)).toHaveLength(1);
    expect(await scoresOf(traceId)).toEqual([]);
    await stage.service.call('DELETE', `/traces/${traceId}`);
    expect(await scoresOf(traceId, caller)).toHaveLength(1);
    expect(await judgementsOf(traceId)).toHaveLength(1);
  });

  test('leaves nothing of a deleted or expired trace', async () => {
    await stage.put('gone', { trace_filter: { agent: 'gone' }, evaluators: [JUDGE] });
    const deleted = await run({ name: 'gone' });
    const expired = await run({ name: 'gone' });
    await stage.untilRule('gone', ({ scored }) => scored === 2);
    expect(await judgementsOf(deleted.traceId)).toHaveLength(1);
    await stage.service.call('DELETE', `/traces/${deleted.traceId}`);
    expect([await judgementsOf(deleted.traceId), await scoresOf(deleted.traceId)]).toEqual([[], []]);
    await sql(`update traces set started_at = now() - interval '40 days' where replace(id::text, '-', '') = $1`, [
      expired.traceId,
    ]);
    const { db } = stage.service.dependencies;
    await expireTraces(db.system, 35 * 24 * 60 * 60_000, new AbortController().signal);
    expect([await judgementsOf(expired.traceId), await scoresOf(expired.traceId)]).toEqual([[], []]);
  });

  test('stores no score of a trace that is deleted while its judge answers', async () => {
    await stage.put('meanwhile', { trace_filter: { agent: 'meanwhile' }, evaluators: [JUDGE] });
    const before = stage.openai.callCount;
    stage.openai.behave({ latencyMs: 1_500 });
    const { traceId } = await run({ name: 'meanwhile' });
    await until('the judge is asked', async () => stage.openai.callCount > before);
    expect((await stage.service.call('DELETE', `/traces/${traceId}`)).status).toBe(200);
    await stage.untilRule('meanwhile', ({ failed, scored }) => failed + scored === 1);
    expect([await judgementsOf(traceId), await scoresOf(traceId)]).toEqual([[], []]);
    expect((await stage.rule('meanwhile')).last_error.message).toContain(traceId);
  });

  test('refuses what is for executions, and a backfill', async () => {
    const refused = async (body: object) => {
      const { status, body: answer } = await stage.put('refused', { evaluators: [CONTAINS], ...body });
      return [status, answer.error.details?.[0]?.path ?? answer.error.details?.[0]?.field];
    };
    const trace_filter = { agent: 'x' };
    expect(await refused({ trace_filter, filter: {} })).toEqual([400, 'filter']);
    expect(await refused({ trace_filter, label: 'production' })).toEqual([400, 'label']);
    expect(await refused({ trace_filter: { prompt_version: 1 } })).toEqual([400, 'trace_filter.prompt_version']);
    expect(await refused({ trace_filter: { since: '2026-01-01T00:00:00Z' } })).toEqual([400, 'trace_filter.since']);
    await stage.put('no-backfill', { trace_filter, evaluators: [CONTAINS] });
    const { status, body } = await stage.service.call('POST', '/rules/no-backfill/backfill', {
      body: { since: '2026-01-01T00:00:00Z' },
    });
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      'invalid_request',
      expect.stringContaining('scores traces as they settle'),
    ]);
    const changed = await stage.put('no-backfill', { evaluators: [CONTAINS] });
    expect(changed.body.trace_filter).toBeNull();
  });
});
