import { randomInt } from 'node:crypto';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Big } from 'big.js';
import { toProtobuf } from '../../domain/traces/traces-support.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { DONE, newSpanId, newTraceId, requestOf, type Span, span } from './traces-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

type Attributes = NonNullable<Parameters<typeof span>[0]['attributes']>;
type Random = (below: number) => number;

/** @returns whole numbers from 0, the same for the same seed */
function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % below;
  };
}

interface Tokens {
  input: number;
  output: number;
  cached: number;
  written: number;
  reasoning: number;
}
const KINDS = ['input', 'output', 'cached', 'written', 'reasoning'] as const;
const NOTHING: Tokens = { input: 0, output: 0, cached: 0, written: 0, reasoning: 0 };
const plus = (a: Tokens, b: Tokens): Tokens =>
  Object.fromEntries(KINDS.map((kind) => [kind, a[kind] + b[kind]])) as unknown as Tokens;

/** US dollars per million tokens, as the providers publish them. */
const MODELS = [
  { provider: 'openai', model: 'gpt-4o-mini', input: '0.15', cached: '0.075', written: '0.15', output: '0.6' },
  { provider: 'openai', model: 'gpt-4.1', input: '2', cached: '0.5', written: '2', output: '8' },
  { provider: 'anthropic', model: 'claude-haiku-4-5', input: '1', cached: '0.1', written: '1.25', output: '5' },
] as const;
type Model = (typeof MODELS)[number];

/** The provider's side: answers calls, and writes the bill. */
function provider(random: Random) {
  const bill = { calls: 0, cost: new Big(0), tokens: NOTHING, byModel: new Map<string, Big>() };
  return {
    bill,
    call: (): { model: Model; tokens: Tokens } => {
      const model = MODELS[random(MODELS.length)] ?? MODELS[0];
      const [fresh, output] = [1 + random(3_000), 2 + random(800)];
      const cached = random(3) === 0 ? random(2_000) : 0;
      const written = model.provider === 'anthropic' && random(3) === 0 ? random(1_000) : 0;
      const reasoning = random(3) === 0 ? random(output) : 0;
      const tokens = { input: fresh + cached + written, output, cached, written, reasoning };
      const cost = new Big(model.input)
        .times(fresh)
        .plus(new Big(model.cached).times(cached))
        .plus(new Big(model.written).times(written))
        .plus(new Big(model.output).times(output))
        .div(1_000_000);
      bill.calls += 1;
      bill.cost = bill.cost.plus(cost);
      bill.tokens = plus(bill.tokens, tokens);
      const name = `${model.provider}/${model.model}`;
      bill.byModel.set(name, (bill.byModel.get(name) ?? new Big(0)).plus(cost));
      return { model, tokens };
    },
  };
}

/** How an instrumentation writes a call, and the kinds of steps that it puts around calls. */
interface Shape {
  call: (model: Model, tokens: Tokens) => Attributes;
  around: ((model: Model, tokens: Tokens) => Attributes)[];
}

const semconv = (prefix: string, { input, output, cached, written, reasoning }: Tokens): Attributes => ({
  [`${prefix}.input_tokens`]: input,
  [`${prefix}.output_tokens`]: output,
  [`${prefix}.cache_read.input_tokens`]: cached,
  [`${prefix}.cache_creation.input_tokens`]: written,
  [`${prefix}.reasoning.output_tokens`]: reasoning,
});
const openInference = (kind: string, tokens?: Tokens): Attributes => ({
  'openinference.span.kind': kind,
  ...(tokens && {
    'llm.token_count.prompt': tokens.input,
    'llm.token_count.completion': tokens.output,
    'llm.token_count.prompt_details.cache_read': tokens.cached,
    'llm.token_count.prompt_details.cache_write': tokens.written,
    'llm.token_count.completion_details.reasoning': tokens.reasoning,
  }),
});
const aiSdk = (operation: string, { provider: of, model }: Model, tokens: Tokens): Attributes => ({
  'ai.operationId': operation,
  'ai.model.provider': `${of}.chat`,
  'ai.model.id': model,
  'ai.usage.inputTokens': tokens.input,
  'ai.usage.outputTokens': tokens.output,
  'ai.usage.cachedInputTokens': tokens.cached,
  'ai.usage.inputTokenDetails.cacheWriteTokens': tokens.written,
  'ai.usage.reasoningTokens': tokens.reasoning,
});
/** Langfuse's kinds exclude each other. */
const langfuse = (type: string, { model }: Model, tokens: Tokens): Attributes => ({
  'langfuse.observation.type': type,
  ...(type === 'generation' && { 'langfuse.observation.model.name': model }),
  'langfuse.observation.usage_details': JSON.stringify({
    input: tokens.input - tokens.cached - tokens.written,
    input_cached_tokens: tokens.cached,
    input_cache_creation: tokens.written,
    output: tokens.output - tokens.reasoning,
    output_reasoning_tokens: tokens.reasoning,
  }),
});

const genAiCall = ({ provider: of, model }: Model, tokens: Tokens): Attributes => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': of,
  'gen_ai.request.model': model,
  ...semconv('gen_ai.usage', tokens),
});
const openLlmetryCall = ({ provider: of, model }: Model, tokens: Tokens): Attributes => ({
  'llm.request.type': 'chat',
  'gen_ai.system': of,
  'gen_ai.request.model': model,
  'gen_ai.usage.prompt_tokens': tokens.input,
  'gen_ai.usage.completion_tokens': tokens.output,
  'gen_ai.usage.cache_read_input_tokens': tokens.cached,
  'gen_ai.usage.cache_creation_input_tokens': tokens.written,
  'gen_ai.usage.reasoning_tokens': tokens.reasoning,
});

const SHAPES: Record<string, Shape> = {
  'GenAI conventions': {
    call: genAiCall,
    around: [
      (_, tokens) => ({ 'gen_ai.operation.name': 'invoke_agent', ...semconv('gen_ai.usage', tokens) }),
      (_, tokens) => ({ 'gen_ai.operation.name': 'invoke_agent', ...semconv('gen_ai.aggregated_usage', tokens) }),
      () => ({ 'gen_ai.operation.name': 'agent_step' }),
      genAiCall,
    ],
  },
  OpenInference: {
    call: ({ provider: of, model }, tokens) => ({
      'llm.provider': of,
      'llm.model_name': model,
      ...openInference('LLM', tokens),
    }),
    around: [
      (_, tokens) => openInference('AGENT', tokens),
      () => openInference('CHAIN'),
      ({ provider: of, model }, tokens) => ({
        'llm.system': of,
        'llm.model_name': model,
        ...openInference('LLM', tokens),
      }),
    ],
  },
  'AI SDK': {
    call: (model, tokens) => aiSdk('ai.streamText.doStream', model, tokens),
    around: [
      (model, tokens) => aiSdk('ai.streamText', model, tokens),
      (model, tokens) => aiSdk('ai.generateText', model, tokens),
      () => ({ 'ai.operationId': 'ai.toolCall', 'ai.toolCall.name': 'ask_agent' }),
    ],
  },
  OpenLLMetry: {
    call: openLlmetryCall,
    around: [
      () => ({ 'traceloop.span.kind': 'workflow' }),
      (_, tokens) => ({ 'traceloop.span.kind': 'task', 'llm.usage.prompt_tokens': tokens.input }),
      openLlmetryCall,
    ],
  },
  Langfuse: {
    call: (model, tokens) => langfuse('generation', model, tokens),
    around: [
      (model, tokens) => langfuse('agent', model, tokens),
      (model, tokens) => langfuse('generation', model, tokens),
      () => ({ 'langfuse.observation.type': 'chain' }),
    ],
  },
};

const TRACES = 200;
const MOST_DEEP = 3;

/** A run: calls within steps within steps, most of which repeat the usage of those below them. */
function runOf({ call, around }: Shape, random: Random, ask: ReturnType<typeof provider>['call']) {
  const traceId = newTraceId();
  const spans: Span[] = [];
  const at = Date.now() - 20_000;
  function add(parent: string | undefined, depth: number): { model: Model; tokens: Tokens } {
    const id = newSpanId();
    const mine = { traceId, id, parent, at: at + spans.length, ms: 1_000 - depth };
    if (depth === MOST_DEEP || (depth > 0 && random(3) === 0)) {
      const answer = ask();
      spans.push(span({ ...mine, attributes: call(answer.model, answer.tokens) }));
      return answer;
    }
    const inner = Array.from({ length: 1 + random(3) }, () => add(id, depth + 1));
    const tokens = inner.reduce((sum, each) => plus(sum, each.tokens), NOTHING);
    const model = inner[0]?.model ?? MODELS[0];
    // The top step is always of the first kind.
    const attributes = around[depth === 0 ? 0 : random(around.length)]?.(model, tokens) ?? {};
    spans.push(span({ ...mine, attributes: { ...attributes, ...(depth === 0 && DONE) } }));
    return { model, tokens };
  }
  add(undefined, 0);
  return { traceId, spans };
}

/** Parts of random sizes, in random order. */
function partsOf<Item>(items: readonly Item[], most: number, random: Random): Item[][] {
  const left = items.map((item) => ({ item, at: random(1 << 30) })).sort((a, b) => a.at - b.at);
  const parts: Item[][] = [];
  while (left.length > 0) parts.push(left.splice(0, 1 + random(most)).map(({ item }) => item));
  return parts;
}

/** All records of a list. */
async function* listed(path: string) {
  for (let cursor = ''; ; ) {
    const { body } = await service.call('GET', `${path}&limit=100${cursor}`);
    yield* body.data;
    if (body.next_cursor === null) return;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

async function post(spans: readonly Span[], random: Random): Promise<void> {
  const isJson = random(2) === 0;
  const request = requestOf(spans);
  const response = await fetch(`${service.origin}/v1/traces`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${service.key}`,
      'Content-Type': isJson ? 'application/json' : 'application/x-protobuf',
      'Content-Encoding': 'gzip',
    },
    body: new Uint8Array(gzipSync(isJson ? JSON.stringify(request) : toProtobuf(request))),
  });
  const body = await response.text();
  if (response.status !== 200 || body.length > 2) throw new Error(`${response.status} ${body}`);
}

/** Repeats a run that failed. */
const seed = Number(process.env['TRACES_SEED'] ?? randomInt(1 << 30));

test(`the costs of ${TRACES} traces by five instrumentations equal the bill of the provider`, async () => {
  const random = randomOf(seed);
  const shapes = Object.entries(SHAPES);
  const runs = Array.from({ length: TRACES }, (_, index) => {
    const [name = '', shape] = shapes[index % shapes.length] ?? [];
    if (shape === undefined) throw new Error('There are no shapes.');
    const { bill, call } = provider(random);
    return { name, bill, ...runOf(shape, random, call) };
  });
  // Steps around calls arrive before, with, or after them, and some spans twice.
  const spans = runs.flatMap((run) => [...run.spans, ...run.spans.filter(() => random(10) === 0)]);
  for (const part of partsOf(spans, 400, random)) await post(part, random);

  const traces = await until('all traces are settled', async () => {
    const found = await Array.fromAsync(listed('/traces?settled=true'));
    return found.length === TRACES && new Map(found.map((trace) => [trace.id, trace]));
  });
  for (const { name, traceId, bill, spans: sent } of runs) {
    const { steps, calls, tokens, cost } = traces.get(traceId);
    const { total: _, ...counts } = tokens;
    const { input, output, cached: cached_input, reasoning } = bill.tokens;
    expect({ seed, name, traceId, steps, calls, tokens: counts, cost: cost.amount }).toEqual({
      seed,
      name,
      traceId,
      steps: sent.length,
      calls: bill.calls,
      tokens: { input, output, cached_input, reasoning },
      cost: bill.cost.toFixed(),
    });
  }
  const byModel = new Map<string, Big>();
  for (const { bill } of runs)
    for (const [model, cost] of bill.byModel) byModel.set(model, (byModel.get(model) ?? new Big(0)).plus(cost));
  const { body } = await service.call('GET', '/usage?group_by=model');
  const usage: { model: string; executions: number; cost: { amount: string } }[] = body.data;
  expect({ seed, usage: Object.fromEntries(usage.map(({ model, cost }) => [model, cost.amount])) }).toEqual({
    seed,
    usage: Object.fromEntries([...byModel].map(([model, cost]) => [model, cost.toFixed()])),
  });
  expect(usage.reduce((sum, { executions }) => sum + executions, 0)).toBe(
    runs.reduce((sum, { bill }) => sum + bill.calls, 0),
  );
});
