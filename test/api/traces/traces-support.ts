import { randomBytes } from 'node:crypto';
import type { Answer, Call, TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';

export const newTraceId = () => randomBytes(16).toString('hex');
export const newSpanId = () => randomBytes(8).toString('hex');

type Value = string | number | boolean | readonly string[];

/** A span, as in OTLP/JSON. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano?: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status?: { code: number; message?: string };
}

const anyValue = (value: Value): Record<string, unknown> => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((each) => ({ stringValue: each })) } };
};

const nanos = (ms: number) => `${Math.round(ms * 1000)}000`;

export interface SpanOptions {
  traceId: string;
  id?: string;
  parent?: string | undefined;
  name?: string;
  /** Milliseconds since 1970. */
  at?: number;
  /** Null if it has not ended. */
  ms?: number | null;
  error?: string;
  attributes?: Record<string, Value>;
}

export function span({
  traceId,
  id = newSpanId(),
  parent,
  name = 'step',
  at = Date.now() - 10_000,
  ms = 100,
  error,
  attributes = {},
}: SpanOptions): Span {
  return {
    traceId,
    spanId: id,
    ...(parent !== undefined && { parentSpanId: parent }),
    name,
    startTimeUnixNano: nanos(at),
    ...(ms !== null && { endTimeUnixNano: nanos(at + ms) }),
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) })),
    ...(error !== undefined && { status: { code: 2, message: error } }),
  };
}

/** Attributes of a model call. */
export const modelCall = (input: number, output: number, others: Record<string, Value> = {}) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-4o-mini',
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
  'gen_ai.input.messages': JSON.stringify([
    { role: 'user', parts: [{ type: 'text', content: 'Do I need an umbrella?' }] },
  ]),
  'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Yes.' }] }]),
  ...others,
});

export const agent = (input: number, output: number, others: Record<string, Value> = {}) => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': 'travel',
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
  ...others,
});

export const requestOf = (
  spans: readonly Span[],
  resource: Record<string, Value> = { 'service.name': 'travel-api' },
) => ({
  resourceSpans: [
    {
      resource: { attributes: Object.entries(resource).map(([key, value]) => ({ key, value: anyValue(value) })) },
      scopeSpans: [{ scope: { name: 'test' }, spans }],
    },
  ],
});

export const send = (call: Call, spans: readonly Span[], options: Parameters<Call>[2] = {}): Promise<Answer> =>
  call('POST', '/traces', { body: requestOf(spans), ...options });

/** Waits until a trace is settled. */
export const settled = (service: Pick<TestService, 'call'>, id: string) =>
  until(`trace ${id} is settled`, async () => {
    const { body } = await service.call('GET', `/traces/${id}`);
    return body.settled === true && body;
  });

/** All steps of a trace, page by page. */
export async function stepsOf({ call }: Pick<TestService, 'call'>, id: string, limit = 1000) {
  const steps = [];
  for (let cursor = ''; ; ) {
    const { body } = await call('GET', `/traces/${id}/steps?limit=${limit}${cursor}`);
    steps.push(...body.data);
    if (body.next_cursor === null) return steps;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

/** The total usage of a model's executions. */
export async function usageOf(call: Call, model = 'openai/gpt-4o-mini') {
  const { body } = await call('GET', `/usage?group_by=model&model=${model}`);
  const { executions = 0, completed = 0, tokens, cost, unpriced = 0 } = body.data[0] ?? {};
  const { input = 0, output = 0 } = tokens ?? {};
  return { executions, completed, input, output, cost: Number(cost?.amount ?? 0), unpriced };
}

/** Marks the last span of a trace. */
export const DONE = { 'pms.trace.complete': true };
