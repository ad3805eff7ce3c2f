import { ApiError, invalidField } from '../domain/errors.ts';
import type { ModelParameters } from '../domain/parameters.ts';
import type { Cost, Pricing, TokenUsage } from '../domain/usage.ts';
import { startDeadline } from './deadline.ts';
import { ModelError } from './model-error.ts';
import { type HttpProvider, type ResolvedModel, resolveModelName } from './names.ts';
import { createPriceBook } from './price-book.ts';
import { createProviders } from './providers.ts';
import { createSandbox } from './sandbox.ts';

/** One call to a model. */
export interface ModelCall {
  /** `provider/model`, or a bare name that resolves. */
  model: string;
  /** The rendered prompt, sent as one user message. */
  input: string;
  parameters: ModelParameters;
  /** Gives the call up: it then rejects with the signal's own reason. */
  signal: AbortSignal;
  timeoutMs: number;
}

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'other';

/** What a model answered. */
export interface ModelAnswer {
  output: string;
  finishReason: FinishReason;
  /** All 0 when the provider sent no usage. */
  tokens: TokenUsage;
  cost: Cost;
  /** How long the call took. */
  modelMs: number;
  /** What the provider says served the call, e.g. `gpt-4o-mini-2024-07-18`; null when it doesn't say. */
  providerModel: string | null;
}

/** The models this installation can call. */
export interface Models {
  /**
   * Takes a model's name apart and makes sure that it could be called.
   *
   * @throws ApiError `invalid_request` with the path `model`: no known provider, or one without credentials.
   */
  resolve(name: string): ResolvedModel;
  /**
   * Calls the model once; retries are the caller's.
   *
   * @throws ModelError for everything but the caller's own abort, which rejects with `signal.reason`.
   */
  generate(call: ModelCall): Promise<ModelAnswer>;
  /** The price of a call with so many input tokens (default 0) made now; null when none is known. */
  priceOf(model: string, atInputTokens?: number): Pricing | null;
}

/** `Models` that hold connections. */
export interface ClosableModels extends Models {
  /** Closes the kept-alive connections once the calls under way have ended. */
  close(): Promise<void>;
}

/** Where a provider is and how to sign in. Base URLs end where the provider's own API version does (`…/v1`). */
export interface ProviderSettings {
  apiKey: string | undefined;
  /** Unset: the provider's own address. */
  baseUrl: string | undefined;
}

export interface ModelSettings {
  openai: ProviderSettings;
  anthropic: ProviderSettings;
  google: ProviderSettings;
  /** Any server that speaks OpenAI's chat completions; usable as soon as it has a base URL. */
  openaiCompatible: ProviderSettings;
  /** The operator's own prices, JSON; see `price-book.ts`. */
  pricesFile?: string | undefined;
}

/** What to set to get a provider's models. */
const CREDENTIAL_OF: Record<HttpProvider, string> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  'openai-compatible': 'OPENAI_COMPATIBLE_BASE_URL',
};

/**
 * @param options.warn Told when an edit of the prices file can't be used; the last good prices stay in force.
 * @throws Error when the prices file can't be read or isn't valid, with every fault in its message.
 */
export function createModels(
  settings: ModelSettings,
  options: { warn?: (message: string) => void } = {},
): ClosableModels {
  const prices = createPriceBook({ file: settings.pricesFile, warn: options.warn ?? (() => {}) });
  const providers = createProviders(settings, prices);
  const sandbox = createSandbox();

  /** Why a known provider can't be called; undefined when it can. */
  function missingCredentials({ provider }: ResolvedModel): string | undefined {
    if (provider === 'sandbox' || providers.isConfigured(provider)) return undefined;
    return `no credentials for ${provider}; set ${CREDENTIAL_OF[provider]}`;
  }

  /** A name is checked when an execution is created, but the settings of this process may be others. */
  function resolveForCall(name: string): ResolvedModel {
    let resolved: ResolvedModel;
    try {
      resolved = resolveModelName(name);
    } catch (error) {
      throw error instanceof ApiError ? new ModelError('model_invalid_request', error.message) : error;
    }
    const missing = missingCredentials(resolved);
    if (missing !== undefined) throw new ModelError('model_authentication', missing);
    return resolved;
  }

  return {
    resolve(name) {
      const resolved = resolveModelName(name);
      const missing = missingCredentials(resolved);
      if (missing !== undefined) throw invalidField('model', missing);
      return resolved;
    },

    async generate(call) {
      call.signal.throwIfAborted();
      const { provider, model, providerModelId } = resolveForCall(call.model);
      const deadline = startDeadline(call.signal, call.timeoutMs);
      const started = performance.now();
      try {
        const answer =
          provider === 'sandbox'
            ? await sandbox.generate(providerModelId, call, deadline.signal)
            : await providers.generate({ provider, model, providerModelId }, call, deadline.signal);
        return { ...answer, modelMs: Math.round(performance.now() - started) };
      } catch (error) {
        // A connection that an abort cut ends in an error that isn't a ModelError.
        if (error instanceof ModelError) throw error;
        call.signal.throwIfAborted();
        if (deadline.expired()) {
          throw new ModelError('model_timeout', `The model did not answer within ${call.timeoutMs} ms.`);
        }
        throw error;
      } finally {
        deadline.end();
      }
    },

    priceOf(name, atInputTokens = 0) {
      return prices.priceOf(resolveModelName(name), atInputTokens);
    },

    close: () => providers.close(),
  };
}

export { ModelError, type ModelErrorCode } from './model-error.ts';
export type { ProviderName, ResolvedModel } from './names.ts';
