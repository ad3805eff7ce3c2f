import process from 'node:process';
import { expect } from '@jest/globals';
import { callsOf } from './fault-stage.ts';
import type { ProviderProcess } from './processes-service.ts';
import type { Call } from './service.ts';
import { PATIENCE_MS, until } from './wait-for.ts';

/** Full size for manual runs: 1,000 examples in every test, outages of 20 s, and measurements on standard error. */
export const AT_FULL_SIZE = process.env['FAULTS_AT_FULL_SIZE'] === 'true';

/** How many examples a test's run has. */
export const sized = (examples: number): number => (AT_FULL_SIZE ? 1_000 : examples);
/** How long a server stays away. */
export const OUTAGE_MS = AT_FULL_SIZE ? 20_000 : 5_000;

/** Prints measurements at full size. */
export function tell(text: string): void {
  if (AT_FULL_SIZE) process.stderr.write(`${text}\n`);
}

/** A prompt with a dataset, three of four examples of which get the expected response. */
export interface Material {
  name: string;
  /** The model input of each example. */
  prompts: string[];
}

/** Creates a prompt and uploads its dataset. Its prompts are unique, so that its calls can be counted. */
export async function makeMaterial(
  call: Call,
  name: string,
  examples: number,
  { model = 'openai/gpt-4o-mini', fallback_models = [] }: { model?: string; fallback_models?: string[] } = {},
): Promise<Material> {
  const body = { name, template: 'Say {{ text }}', model, fallback_models };
  const prompt = await call('POST', '/prompts', { body });
  expect(prompt.status).toBe(201);
  const texts = Array.from({ length: examples }, (_, seq) => `${name} ${seq}.`);
  const lines = texts.map((text, seq) => {
    const expected = seq % 4 === 3 ? 'something else' : `Answer to: Say ${text}`;
    return JSON.stringify({ id: `example-${seq}`, variables: { text }, expected });
  });
  const headers = { 'Content-Type': 'application/jsonl' };
  const upload = await call('PUT', `/datasets/${name}`, { raw: lines.join('\n'), headers });
  expect(upload).toMatchObject({ status: 200, body: { examples_total: examples } });
  return { name, prompts: texts.map((text) => `Say ${text}`) };
}

/** The ids of a run and of its workflow. */
export interface Run {
  id: string;
  workflowId: string;
}

/** Starts a run of some material. @param more fields of the request */
export async function startRun(call: Call, { name }: Material, concurrency: number, more: object = {}): Promise<Run> {
  const { status, body } = await call('POST', '/evaluations', {
    body: { prompt_name: name, dataset: name, concurrency, threshold: 0.7, ...more },
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return { id: body.id, workflowId: body.workflow_id };
}

/** A run's record once it has ended, through outages of whatever answers for it. */
export async function endedRun(call: Call, id: string) {
  return until(
    `the end of ${id}`,
    async () => {
      const { body } = await call('GET', `/evaluations/${id}`);
      return ['completed', 'failed', 'canceled'].includes(body.status) ? body : undefined;
    },
    2 * PATIENCE_MS,
  );
}

/** Every result of a run, in order. */
export async function resultsOf(call: Call, id: string) {
  const { body } = await call('GET', `/evaluations/${id}/results?limit=1000`);
  expect(body.next_cursor).toBeNull();
  return body.data;
}

/**
 * Expects a correct run despite faults: completed, each example exactly once with its own response and score, and no more paid
 * for than was lost on the way.
 * @param mostExtraCalls calls beyond one per example
 * @param hopeless examples that the model's server finally refuses
 */
export async function expectRight(
  { call, model }: { call: Call; model: ProviderProcess },
  { id }: Run,
  { name, prompts }: Material,
  mostExtraCalls: number,
  hopeless: readonly number[] = [],
): Promise<void> {
  const expected = prompts.map((prompt, seq) =>
    hopeless.includes(seq)
      ? { seq, status: 'failed', output: null, score: 0 }
      : { seq, status: 'scored', output: `Answer to: ${prompt}`, score: seq % 4 === 3 ? 0 : 1 },
  );
  const run = await endedRun(call, id);
  const calls = await callsOf(model, prompts);
  const extra = calls.reduce((sum, count) => sum + count, 0) - prompts.length;
  const seconds = (Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1_000;
  tell(`${name}: ${extra} extra calls (at most ${mostExtraCalls}), ${seconds.toFixed(1)} s`);
  const results: { seq: number; status: string; output: string | null; score: number }[] = await resultsOf(call, id);
  expect(results.map(({ seq, status, output, score }) => ({ seq, status, output, score }))).toEqual(expected);
  // As the model's server counts them.
  const answered = expected.flatMap(({ output }, seq) =>
    output === null ? [] : [{ input: prompts[seq] ?? '', output }],
  );
  const tokensOf = (texts: string[]) => texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
  const score = expected.reduce((sum, result) => sum + result.score, 0) / prompts.length;
  expect(run).toMatchObject({
    status: 'completed',
    error: null,
    passed: true,
    examples_total: prompts.length,
    examples_evaluated: prompts.length,
    examples_failed: hopeless.length,
    regressions: expected.filter((result) => result.score === 0).length,
    progress: 1,
  });
  // Calls paid for twice count twice if both responses could be stored.
  for (const [kind, texts] of Object.entries({
    input: answered.map(({ input }) => input),
    output: answered.map(({ output }) => output),
  })) {
    expect(run.tokens[kind]).toBeGreaterThanOrEqual(tokensOf(texts));
    const ofOne = Math.max(...texts.map((text) => tokensOf([text])));
    expect(run.tokens[kind]).toBeLessThanOrEqual(tokensOf(texts) + Math.max(0, extra) * ofOne);
  }
  expect(run.score).toBeCloseTo(score, 9);
  expect(calls.filter((count) => count === 0)).toEqual([]);
  expect(extra).toBeLessThanOrEqual(mostExtraCalls);
}
