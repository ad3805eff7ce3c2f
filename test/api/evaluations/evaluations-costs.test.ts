import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.ts';
import { costOfRun } from '../../../src/services/evaluations/run/costs.ts';
import { storeJudgements } from '../../../src/services/evaluations/run/judgements-store.ts';
import { storeResults } from '../../../src/services/evaluations/run/results-store.ts';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

/** 1,000 input and 1,000 output tokens of gpt-4o-mini: 0.00015 + 0.0006 USD. */
const CALL_USD = 0.00075;
const USAGE = { input: 1_000, output: 1_000 };
const JUDGE = { type: 'llm_judge', name: 'judge', model: 'openai/gpt-4o-mini', rubric: 'Is it good?' };
const GOOD = JSON.stringify({ reason: 'fine', score: 5 });

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage(
    {
      answer: ({ prompt }) => {
        const isJudge = prompt.includes(JUDGE.rubric);
        if (isJudge && prompt.includes('withheld')) return { text: '', finishReason: 'content_filter', usage: USAGE };
        if (isJudge) return { text: GOOD, usage: USAGE };
        const text = `Answer to: ${prompt}`;
        if (prompt.includes('free of usage') || /every third \d*[0369]$/.test(prompt)) return { text, usage: null };
        if (prompt.includes('beyond 32 bits')) return { text, usage: { input: 3e9, output: 5e9 } };
        return { text, usage: USAGE };
      },
    },
    {},
    'adds constraints to tables',
  );
});
afterAll(() => stage?.stop());

const uuidOf = (id: string) => id.replace('eval_', '');
const callsMade = (name: string, count: number) =>
  examplesOf(name, count).reduce((sum, { variables }) => sum + stage.openai.countBy(`Say ${variables.text}`), 0);
const system = () => stage.service.dependencies.db.system;

async function ownerOf(id: string): Promise<{ workspaceId: string; examplesId: string }> {
  const [row] = await system().query<{ workspaceId: string; examplesId: string }>(
    { text: `select workspace_id as "workspaceId", examples_id as "examplesId" from evaluations where id = $1` },
    [uuidOf(id)],
  );
  if (row === undefined) throw new Error('There is no such evaluation.');
  return row;
}

/** As a budget counts it. */
async function countedUsd(id: string): Promise<number> {
  const { workspaceId } = await ownerOf(id);
  return Number(await costOfRun(stage.service.dependencies.db.workspace(workspaceId).query, uuidOf(id)));
}

describe('calls of unknown cost', () => {
  test.each([1, 20, 200])('count as the money set aside, %d at a time', async (concurrency) => {
    const name = `free of usage ${concurrency} of`;
    const body = { examples: examplesOf(name, 150), concurrency, max_cost: '0.0012' };
    const id = await stage.begin(body);
    const paused = await stage.until(id, 'paused', 'completed');
    // 500 tokens of output are expected: 0.0003 USD and a little for the input.
    expect([paused.status, callsMade(name, 150)]).toEqual(['paused', 3]);
    expect(paused.cost.amount).toBeNull();
    expect(await countedUsd(id)).toBeGreaterThan(0.0009);
    const refused = await stage.control(id, 'resume', { max_cost: '0.0009' });
    expect(refused).toMatchObject({ status: 400, body: { error: { details: [{ path: 'max_cost' }] } } });
    await stage.control(id, 'resume', { max_cost: '0.0016' });
    await stage.until(id, 'paused');
    expect(callsMade(name, 150)).toBe(5);
    await stage.control(id, 'cancel');
    await stage.control(id, 'retry');
    await stage.until(id, 'paused');
    expect(callsMade(name, 150)).toBe(5);
  });

  test('among others leave at most a tenth of the cap unused', async () => {
    const id = await stage.begin({ examples: examplesOf('every third', 150), concurrency: 10, max_cost: '0.06' });
    const paused = await stage.until(id, 'paused', 'completed');
    expect(paused.status).toBe('paused');
    const counted = await countedUsd(id);
    expect(counted).toBeGreaterThanOrEqual(0.054);
    expect(counted).toBeLessThanOrEqual(0.06 + 10 * CALL_USD);
    expect(paused.cost.amount).toBeNull();
    const known = (await stage.results(id)).filter((row: { cost: { amount: string | null } }) => row.cost.amount);
    expect(Number(known[0].cost.amount)).toBe(CALL_USD);
  });
});

test('a judgement that a filter withheld is billed, and counts', async () => {
  const examples = examplesOf('withheld', 30);
  const id = await stage.begin({ examples, concurrency: 1, evaluators: [JUDGE], max_cost: '0.015' });
  const paused = await stage.until(id, 'paused', 'completed');
  expect(paused).toMatchObject({ status: 'paused', examples_failed: 10, judge: { cost: { amount: '0.0075' } } });
  expect(paused.cost.amount).toBe('0.015');
  expect(paused.judge.tokens.output).toBe(10_000);
  const [row] = await stage.results(id);
  expect(row).toMatchObject({ status: 'failed', error: { code: 'content_filtered' } });
});

test('tokens beyond 32 bits are stored', async () => {
  const run = await stage.run({ examples: examplesOf('beyond 32 bits', 1) });
  expect(run).toMatchObject({ status: 'completed', examples_failed: 0, tokens: { input: 3e9, output: 5e9 } });
  const [row] = await stage.results(run.id);
  expect(row.tokens).toMatchObject({ input: 3e9, output: 5e9, total: 8e9 });
});

describe('data that the database refuses', () => {
  beforeAll(async () => {
    await system().query({
      text: `alter table evaluation_results add check (output is null or output not like '%poison%')`,
    });
    await system().query({
      text: `alter table evaluation_judgements add check (answer is null or evaluator <> 'poisoned')`,
    });
  });

  test('fails the example, with its cost, and is paid for once', async () => {
    const run = await stage.run({ examples: examplesOf('poison', 3), concurrency: 3 });
    expect(run).toMatchObject({ status: 'completed', examples_failed: 3, cost: { amount: '0.00225' } });
    expect(callsMade('poison', 3)).toBe(3);
    const [row] = await stage.results(run.id);
    expect(row).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'internal_error' } });
  });

  test('fails no other example', async () => {
    const examples = [
      ...examplesOf('sound', 10),
      ...examplesOf('poison among others', 2),
      ...examplesOf('healthy', 10),
    ];
    const run = await stage.run({ examples, concurrency: 22 });
    expect(run).toMatchObject({ status: 'completed', examples_evaluated: 22, examples_failed: 2 });
    expect(run.cost.amount).toBe('0.0165');
    const rows: { status: string }[] = await stage.results(run.id);
    expect(rows.map(({ status }) => status === 'failed')).toEqual(examples.map(({ id }) => id.startsWith('poison')));
  });

  test('of a judge, too', async () => {
    const judge = { ...JUDGE, name: 'poisoned' };
    const before = stage.openai.callCount;
    const run = await stage.run({ examples: examplesOf('judged', 3), evaluators: [judge] });
    expect(run).toMatchObject({ examples_failed: 3, judge: { cost: { amount: '0.00225' } } });
    expect(stage.openai.callCount - before).toBe(6);
  });
});

describe('two workers that paid for the same', () => {
  const answer = (output: string) => ({
    output,
    finishReason: 'stop' as const,
    tokens: { input: 10, output: 20, cached_input: 1, reasoning: 2, total: 30 },
    cost: { amount: '0.01', currency: 'USD' as const, pricing: null },
    toolCalls: [],
    modelMs: 5,
    providerModel: null,
    attempts: 1,
    model: 'openai/gpt-4o-mini',
  });

  test('example: the first answer stays, and both are reported', async () => {
    const id = await stage.begin({ examples: examplesOf('twice', 1), start_at: '2099-01-01T00:00:00Z' });
    const spec = { ...(await ownerOf(id)), round: 0 };
    const store = (output: string, outcomeId: string, assumedUsd?: number) => {
      const paid = answer(output);
      const cost = assumedUsd === undefined ? paid.cost : { ...paid.cost, amount: null };
      const result = { status: 'scored' as const, response: { ...paid, cost }, score: 1, scores: {}, assumedUsd };
      return storeResults(system().query, uuidOf(id), spec, [{ seq: 0, result, outcomeId }]);
    };
    const [first, second] = [newId(), newId()];
    await store('first', first);
    await store('second', second);
    // The response to a statement may be lost: it is then repeated.
    await Promise.all([store('first', first), store('second', second)]);
    expect(await stage.read(id)).toMatchObject({ cost: { amount: '0.02' }, tokens: { input: 20, output: 40 } });
    const [row] = await stage.results(id);
    expect(row).toMatchObject({ output: 'first', attempts: 2, cost: { amount: '0.02' } });
    await store('third', newId(), 0.5);
    expect(await countedUsd(id)).toBeCloseTo(0.52, 9);
    expect((await stage.read(id)).cost.amount).toBeNull();
    await stage.control(id, 'cancel');
  });

  test('judgement: the first stays, and both are reported', async () => {
    const id = await stage.begin({ examples: examplesOf('judged twice', 1), start_at: '2099-01-01T00:00:00Z' });
    const store = (text: string | null, asks: number, outcomeId: string) => {
      const judgement = { response: text, asks, spent: answer(''), assumedUsd: undefined };
      return storeJudgements(system().query, uuidOf(id), [{ seq: 0, evaluator: 'judge', judgement, outcomeId }]);
    };
    const [first, second] = [newId(), newId()];
    await store('first', 1, first);
    await store('second', 1, second);
    await store('first', 1, first);
    await store(null, 1, newId());
    const read = async () =>
      (
        await system().query({ text: 'select answer, asks from evaluation_judgements where evaluation_id = $1' }, [
          uuidOf(id),
        ])
      )[0];
    expect(await read()).toEqual({ answer: 'first', asks: 1 });
    expect((await stage.read(id)).judge).toMatchObject({ cost: { amount: '0.03' }, tokens: { input: 30 } });
    await store('asked again', 2, newId());
    expect(await read()).toEqual({ answer: 'asked again', asks: 2 });
    await stage.control(id, 'cancel');
  });
});
