import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { storableText } from '../domain/storable-text.ts';
import { NO_TOKENS } from '../domain/usage.ts';
import { createRedactor } from '../lib/redact.ts';
import type { FinishReason, ModelCall, ModelResponse, ModelSettings, ProviderSettings } from './model.ts';
import { ModelError } from './model-error.ts';
import type { HttpProvider, ResolvedModel } from './names.ts';
import type { PriceBook } from './price-book.ts';
import { costOf } from './pricing.ts';
import { isErrorBody, providerError } from './provider-errors.ts';
import { completeBody } from './request-body.ts';
import { type LanguageModel, sdkOptions } from './sdk-options.ts';
import { createTransport } from './transport.ts';
import { billedUsage, isBilledAtListPrice, isBilledBesidesTokens } from './usage.ts';

type ProviderResponse = Omit<ModelResponse, 'modelMs'>;
type SdkResult = Awaited<ReturnType<LanguageModel['doGenerate']>>;
type HttpModel = ResolvedModel & { provider: HttpProvider };

/** The models called over HTTP, through each provider's own SDK. */
export interface Providers {
  isConfigured(provider: HttpProvider): boolean;
  /** @throws ModelError, or the reason of `signal` once it has aborted. */
  generate(model: HttpModel, call: ModelCall, signal: AbortSignal): Promise<ProviderResponse>;
  close(): Promise<void>;
}

const BASE_URL_OF: Record<Exclude<HttpProvider, 'openai-compatible'>, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

const SdkBody = z.record(z.string(), z.unknown());

export function createProviders(settings: ModelSettings, prices: PriceBook): Providers {
  const transport = createTransport();
  const all = [settings.openai, settings.anthropic, settings.google, settings.openaiCompatible];
  const redact = createRedactor(
    all.map(({ apiKey }) => apiKey),
    all.flatMap(({ baseUrl }) => baseUrl ?? []),
  );

  /** Replaces `fetch` in one call's SDK: completes the request, and throws on a response that is an error. */
  function callFetch({ provider, model }: HttpModel, call: ModelCall, signal: AbortSignal): typeof globalThis.fetch {
    return async (url, init) => {
      const body = SdkBody.parse(typeof init?.body === 'string' ? JSON.parse(init.body) : undefined);
      const response = await transport.post({
        url: url instanceof Request ? url.url : url.toString(),
        headers: Object.fromEntries(new Headers(init?.headers)),
        body: JSON.stringify(completeBody(provider, model, body, call.parameters)),
        signal,
      });
      if (response.status < 200 || response.status > 299 || isErrorBody(response.text))
        throw providerError(response, redact);
      return new Response(response.text, { headers: { 'content-type': 'application/json' } });
    };
  }

  return {
    isConfigured: (provider) =>
      provider === 'openai-compatible' ? !!settings.openaiCompatible.baseUrl : !!settings[provider].apiKey,

    async generate(model, call, signal) {
      let isSent = false;
      const send = callFetch(model, call, signal);
      const languageModel = createLanguageModel(model, settings, (url, init) => {
        isSent = true;
        return send(url, init);
      });
      let result: SdkResult;
      try {
        result = await languageModel.doGenerate(sdkOptions(model.provider, call.input, call.parameters));
      } catch (error) {
        if (signal.aborted || error instanceof ModelError) throw error;
        throw isSent
          ? new ModelError('model_unavailable', "The provider's response could not be parsed.")
          : new ModelError('model_invalid_request', 'The parameters do not make a valid request to this provider.');
      }
      return toResponse(model, result, prices);
    },

    close: () => transport.close(),
  };
}

/** A model for one call: the SDK takes `fetch` when a model is made, and each call completes its own request. */
function createLanguageModel(
  { provider, providerModelId }: HttpModel,
  settings: ModelSettings,
  fetch: typeof globalThis.fetch,
): LanguageModel {
  if (provider === 'openai-compatible') {
    const { apiKey, baseUrl = '' } = definedOnly(settings.openaiCompatible);
    return createOpenAICompatible({
      name: provider,
      baseURL: baseUrl,
      ...(apiKey !== undefined && { apiKey }),
      fetch,
    }).chatModel(providerModelId);
  }
  const { apiKey = '', baseUrl = BASE_URL_OF[provider] } = definedOnly(settings[provider]);
  const options = { apiKey, baseURL: baseUrl, fetch };
  if (provider === 'anthropic') return createAnthropic(options)(providerModelId);
  if (provider === 'google') return createGoogle(options)(providerModelId);
  // Chat completions, not responses: `seed`, `stop` and the penalties exist only there, and so do most servers behind OPENAI_BASE_URL.
  return createOpenAI(options).chat(providerModelId);
}

/** An empty setting counts as not set. */
function definedOnly({ apiKey, baseUrl }: ProviderSettings): { apiKey?: string; baseUrl?: string } {
  return { ...(apiKey && { apiKey }), ...(baseUrl && { baseUrl }) };
}

const FINISH_REASONS: Record<SdkResult['finishReason']['unified'], FinishReason> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  interrupted: 'other',
  error: 'other',
  other: 'other',
};

function toResponse(model: HttpModel, result: SdkResult, prices: PriceBook): ProviderResponse {
  const output = storableText(result.content.map((part) => (part.type === 'text' ? part.text : '')).join(''));
  const finishReason = FINISH_REASONS[result.finishReason.unified];
  if (result.content.length === 0 && result.finishReason.raw === undefined) {
    throw new ModelError('model_unavailable', "The provider's response is empty.");
  }
  const usage = billedUsage(result.usage);
  const tokens = usage?.tokens ?? NO_TOKENS;
  const pricing = prices.priceOf(model, tokens.input);
  const body = result.response?.body;
  const isCounted = isBilledAtListPrice(body) && !isBilledBesidesTokens(body);
  const cost = costOf(pricing, isCounted ? usage : undefined);
  if (finishReason === 'content_filter') {
    throw new ModelError('content_filtered', output || "The provider's content filter withheld the response.", {
      spent: { tokens, cost },
    });
  }
  return { output, toolCalls: [], finishReason, tokens, cost, providerModel: servedBy(result) };
}

const GoogleBody = z.object({ modelVersion: z.string() });

/** Google's SDK leaves the model out of its result. */
function servedBy({ response }: SdkResult): string | null {
  const google = GoogleBody.safeParse(response?.body);
  const name = response?.modelId ?? (google.success ? google.data.modelVersion : undefined);
  return name === undefined ? null : storableText(name);
}
