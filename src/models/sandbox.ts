import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelInput, messagesOf, textOf } from '../domain/messages.ts';
import { storableText } from '../domain/storable-text.ts';
import type { Pricing, TokenUsage } from '../domain/usage.ts';
import type { ModelCall, ModelResponse } from './model.ts';
import { ModelError } from './model-error.ts';
import { providerError } from './provider-errors.ts';
import { judge } from './sandbox-judge.ts';
import { failStatusOf, slowMsOf } from './sandbox-models.ts';

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
  /** @throws ModelError as the model's description says, or the reason of `signal` once it has aborted. */
  generate(id: string, call: ModelCall, signal: AbortSignal): Promise<Omit<ModelResponse, 'modelMs'>>;
}

export function createSandbox(): Sandbox {
  let flakyCalls = 0;

  async function respond(id: string, call: ModelCall, signal: AbortSignal): Promise<string> {
    const input = lastUserText(call.input);
    const status = failStatusOf(id);
    if (status !== undefined) throw failure(status);
    const slowMs = slowMsOf(id);
    if (slowMs !== undefined) await sleep(slowMs, undefined, { signal });
    switch (id) {
      case 'fixed':
        return FIXED_RESPONSES.get(input.trim()) ?? FIXED_SENTENCE;
      case 'json':
        return JSON.stringify({ echo: input });
      case 'judge':
        return judge(input, call.parameters.response_format);
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
      const output = storableText(await respond(id, call, signal));
      const model = `sandbox/${id}`;
      return {
        output,
        toolCalls: [],
        finishReason: 'stop',
        tokens: approximateTokens(messagesOf(call.input).map(textOf).join(''), output),
        cost: { amount: '0', currency: 'USD', pricing: sandboxPrice(model) },
        providerModel: model,
      };
    },
  };
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

/** What was said to the model last. */
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

function approximateTokens(input: string, output: string): TokenUsage {
  const [read, written] = [Math.ceil(input.length / 4), Math.ceil(output.length / 4)];
  return { input: read, output: written, cached_input: 0, reasoning: 0, total: read + written };
}
