import type { ClosableModels } from '../../../src/models/model.ts';
import type { AllowPrivate } from '../../../src/outbound/target.ts';
import { startAnthropicServer } from './anthropic.ts';
import { startGoogleServer } from './google.ts';
import { startMistralServer } from './mistral.ts';
import { modelsAt } from './models.ts';
import { startOpenAiServer } from './openai.ts';
import type { CannedAnswer, RecordedCall } from './protocol.ts';
import type { StandIn } from './stand-in.ts';

/** A model of each stand-in. */
export const MODELS = [
  'openai/gpt-4o',
  'openai-compatible/m',
  'anthropic/claude-sonnet-4-5',
  'google/gemini-2.5-flash',
  'mistral/mistral-small-latest',
] as const;
export type TestModel = (typeof MODELS)[number];

export interface AllStandIns {
  models: ClosableModels;
  of(model: string): StandIn;
  /** Sets the response of all of them. */
  answer(canned: CannedAnswer): void;
  /** The last request to a model's stand-in. */
  lastCall(model: string): RecordedCall;
  close(): Promise<void>;
}

/** A stand-in for each provider, and models that call them. */
export async function startAllStandIns(options: { allowPrivate?: AllowPrivate } = {}): Promise<AllStandIns> {
  let canned: CannedAnswer = { text: 'ok' };
  const answer = () => canned;
  const openai = await startOpenAiServer({ answer });
  const anthropic = await startAnthropicServer({ answer });
  const google = await startGoogleServer({ answer });
  const mistral = await startMistralServer({ answer });
  const models = modelsAt(
    {
      openai: openai.baseUrl,
      'openai-compatible': openai.baseUrl,
      anthropic: anthropic.baseUrl,
      google: google.baseUrl,
      mistral: mistral.baseUrl,
    },
    options,
  );
  const servers: Record<string, StandIn> = { anthropic, google, mistral };
  const of = (model: string) => servers[model.split('/')[0] ?? ''] ?? openai;
  return {
    models,
    of,
    answer(next) {
      canned = next;
    },
    lastCall(model) {
      const call = of(model).calls.at(-1);
      if (call === undefined) throw new Error(`${model} was not called.`);
      return call;
    },
    async close() {
      await models.close();
      await Promise.all([openai.close(), anthropic.close(), google.close(), mistral.close()]);
    },
  };
}
