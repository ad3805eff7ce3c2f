import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelInput, messagesOf, type ToolCall, textOf } from '../../domain/prompts/messages.ts';
import { storableText } from '../../domain/text/storable-text.ts';
import type { Pricing, TokenUsage } from '../../domain/usage.ts';
import { cosine } from '../cosine.ts';
import { createDeltas, type Deltas } from '../deltas.ts';
import type { ModelCall, ModelResponse, SimilarityCall, SimilarityResponse } from '../model.ts';
import { ModelError } from '../model-error.ts';
import { providerError } from '../provider-errors.ts';
import { judge } from './judge.ts';
import { failStatusOf, slowMsOf } from './models.ts';
import { sandboxToolAnswer, sandboxToolCall } from './tools.ts';

const FIXED_RESPONSES: ReadonlyMap<string, string> = new Map([
  ['2+2', '4'],
  ['What is 2+2?', '4'],
  ['What is the capital of France?', 'Paris'],
  ['What is the capital of Japan?', 'Tokyo'],
  ['Say hello', 'Hello!'],
  ['ping', 'pong'],
]);
const FIXED_SENTENCE = 'This is a fixed answer of the sandbox.';

export interface Sandbox {
  /** @throws ModelError as described for the model, or the reason of `signal` once it has aborted. */
  generate(id: string, call: ModelCall, signal: AbortSignal): Promise<Omit<ModelResponse, 'modelMs'>>;
  /** @throws as `generate` does */
  similarities(id: string, call: SimilarityCall, signal: AbortSignal): Promise<Omit<SimilarityResponse, 'modelMs'>>;
}

export function createSandbox(): Sandbox {
  let flakyCalls = 0;

  async function respond(id: string, call: ModelCall, signal: AbortSignal): Promise<string> {
    const input = lastUserText(call.input);
    const status = failStatusOf(id);
    if (status !== undefined) throw failure(status);
    switch (id) {
      case 'fixed':
        return FIXED_RESPONSES.get(input.trim()) ?? FIXED_SENTENCE;
      case 'json':
        return JSON.stringify({ echo: input });
      case 'judge':
        return judge(input, call.parameters.response_format);
      case 'tools':
        return sandboxToolAnswer(call.input) ?? input;
      case 'stall':
        return await stall(signal);
      case 'fail':
        throw new ModelError('model_unavailable', 'sandbox/fail always fails.', { retryable: false });
      case 'flaky':
        flakyCalls += 1;
        if (flakyCalls % 2 === 1) throw new ModelError('model_unavailable', 'sandbox/flaky fails every other call.');
        return input;
      default:
        return input;
    }
  }

  return {
    async generate(id, call, signal) {
      const toolCall = id === 'tools' ? sandboxToolCall(call) : undefined;
      const output = toolCall === undefined ? storableText(await respond(id, call, signal)) : '';
      const response = { output, toolCalls: toolCall === undefined ? [] : [toolCall] };
      await handOver(response, call.onDelta && createDeltas(call.onDelta), slowMsOf(id) ?? 0, signal);
      const model = `sandbox/${id}`;
      return {
        ...response,
        finishReason: toolCall === undefined ? 'stop' : 'tool_calls',
        tokens: approximateTokens(call.input, response),
        cost: { amount: '0', currency: 'USD', pricing: sandboxPrice(model) },
        providerModel: model,
      };
    },

    async similarities(id, { text, others, ...call }, signal) {
      // Fails for embeddings whenever the model would fail for text.
      await respond(id, { ...call, input: text, parameters: {} }, signal);
      await sleep(slowMsOf(id) ?? 0, undefined, { signal });
      const model = `sandbox/${id}`;
      const read = others.reduce((sum, other) => sum + Math.ceil(other.length / 4), Math.ceil(text.length / 4));
      return {
        similarities: others.map((other) => similarity(text, other)),
        tokens: { input: read, output: 0, cached_input: 0, reasoning: 0, total: read },
        cost: { amount: '0', currency: 'USD', pricing: sandboxPrice(model) },
        providerModel: model,
      };
    },
  };
}

/** The similarity of two texts: the cosine of their case-insensitive word counts. */
function similarity(a: string, b: string): number {
  const [inA, inB] = [wordCounts(a), wordCounts(b)];
  const words = [...new Set([...inA.keys(), ...inB.keys()])];
  return cosine(
    words.map((word) => inA.get(word) ?? 0),
    words.map((word) => inB.get(word) ?? 0),
  );
}

function wordCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Takes `slowMs`, spread over the words if the response is streamed. */
async function handOver(
  response: { output: string; toolCalls: ToolCall[] },
  deltas: Deltas | undefined,
  slowMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (deltas === undefined) {
    if (slowMs > 0) await sleep(slowMs, undefined, { signal });
    return;
  }
  const words = response.output.split(/(?<=\s)(?=\S)/);
  const startedAt = performance.now();
  for (const [index, word] of words.entries()) {
    const dueMs = (slowMs * (index + 1)) / words.length - (performance.now() - startedAt);
    if (dueMs > 0) await sleep(dueMs, undefined, { signal });
    deltas.text(word);
  }
  deltas.end(response);
}

/** The price of `sandbox/<id>`: nothing. */
export function sandboxPrice(model: string): Pricing {
  return {
    source: 'sandbox',
    model,
    input_per_million: '0',
    cached_input_per_million: '0',
    output_per_million: '0',
  };
}

/** The last text sent to the model. */
function lastUserText(input: ModelInput): string {
  const last = messagesOf(input).findLast(({ role }) => role === 'user');
  return last === undefined ? '' : textOf(last);
}

function failure(status: number): ModelError {
  const headers = new Headers(status === 429 || status === 503 ? { 'retry-after': '1' } : {});
  const text = JSON.stringify({ error: { message: `sandbox/fail-${status} always fails.` } });
  return providerError({ status, headers, text }, (message) => message);
}

function stall(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

/** Counts text only; files do not count. */
function approximateTokens(
  input: ModelInput,
  { output, toolCalls }: Pick<ModelResponse, 'output' | 'toolCalls'>,
): TokenUsage {
  const read = Math.ceil(charsOf(input) / 4);
  const written = Math.ceil((output.length + jsonChars(toolCalls)) / 4);
  return { input: read, output: written, cached_input: 0, reasoning: 0, total: read + written };
}

function charsOf(input: ModelInput): number {
  let chars = 0;
  for (const message of messagesOf(input)) {
    chars += textOf(message).length;
    if (typeof message.content === 'string') continue;
    for (const part of message.content) {
      if (part.type === 'tool_call') chars += jsonChars([part.input]);
      if (part.type === 'tool_result') chars += jsonChars([part.output]);
    }
  }
  return chars;
}

function jsonChars(values: readonly unknown[]): number {
  return values.reduce<number>((chars, value) => chars + JSON.stringify(value).length, 0);
}
