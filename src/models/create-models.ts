import { z } from 'zod';
import { ApiError, invalidField } from '../domain/errors.ts';
import { SingleFlight } from '../lib/single-flight.ts';
import { refuseInTransaction } from '../lib/transaction-scope.ts';
import { createTurns, type Turns } from '../lib/turns.ts';
import { createBatchClient, TIMEOUTS } from './batches/batch-client.ts';
import { createBatchedModels } from './batches/create-batched-models.ts';
import { listProviders } from './catalogue.ts';
import { startDeadline } from './deadline.ts';
import { createHttpModels, type FilePolicy, type ProviderConnection } from './http-models.ts';
import type { ClosableModels, ModelCall, ModelSettings, ProviderTest } from './model.ts';
import { ModelError } from './model-error.ts';
import { type ResolvedModel, resolveModelName } from './names.ts';
import { createPriceBook } from './prices/price-book.ts';
import type { Provider } from './providers/provider.ts';
import { findProvider } from './providers/registry.ts';
import { PLAIN_SANDBOX_MODELS } from './sandbox/models.ts';
import { createSandbox } from './sandbox/sandbox.ts';

const TIMEOUT_MS = 15_000;
/** Only the timeout ends a test, because several callers may share it. */
const NEVER = new AbortController().signal;

/** The lists of OpenAI and compatible APIs, Anthropic, and Google. Some servers send a bare list. */
const ModelList = z.union([
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data.length),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => models.length),
  z.array(z.unknown()).transform((models) => models.length),
]);

/** Requests the list of a provider's models. */
async function testProvider(provider: Provider, connection: ProviderConnection): Promise<ProviderTest> {
  const { apiKey } = connection;
  const auth = apiKey === undefined ? {} : provider.authorization(apiKey);
  const client = createBatchClient(connection, auth, { ...TIMEOUTS, request: TIMEOUT_MS });
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  try {
    const { text } = await client.askFor({ method: 'GET', path: '/models', signal: NEVER });
    return { ms: ms(), models: countIn(text) };
  } catch (error) {
    if (error instanceof ModelError) return { ms: ms(), error };
    throw error;
  }
}

function countIn(text: string): number | null {
  try {
    return ModelList.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * @param options.allowPrivate Private addresses from which files can be fetched; default none.
 * @param options.own Servers that files are never fetched from; default none.
 * @param options.turns Turns of the process, shared with requests; default separate turns.
 * @param options.warn Called when an edit of the prices file is invalid; the last good prices stay in effect.
 * @throws Error when the prices file can't be read or isn't valid, with every problem in its message.
 */
export function createModels(
  settings: ModelSettings,
  options: Partial<FilePolicy> & { turns?: Turns; warn?: (message: string) => void } = {},
): ClosableModels {
  const prices = createPriceBook({ file: settings.pricesFile, warn: options.warn ?? (() => {}) });
  const tests = new SingleFlight<ProviderTest>();
  const policy = { allowPrivate: options.allowPrivate ?? 'false', own: options.own };
  const http = createHttpModels(settings, prices, policy, options.turns ?? createTurns());
  const sandbox = createSandbox();

  /** Why a known provider cannot be called; undefined if it can. */
  function missingCredentials({ provider: name }: Pick<ResolvedModel, 'provider'>): string | undefined {
    const provider = findProvider(name);
    if (provider === undefined || http.isConfigured(provider)) return undefined;
    return `no credentials for ${name}; set ${provider.settings[provider.settings.needed]}`;
  }

  /** The name was checked when the execution was created, but this process may have other settings. */
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

  /** Enforces the time limit. @throws ModelError, or the reason of the call's signal once it has aborted */
  async function timed<Response>(
    { signal, timeoutMs }: Pick<ModelCall, 'signal' | 'timeoutMs'>,
    ask: (signal: AbortSignal) => Promise<Response>,
  ): Promise<Response & { modelMs: number }> {
    const deadline = startDeadline(signal, timeoutMs);
    const started = performance.now();
    try {
      const response = await ask(deadline.signal);
      return { ...response, modelMs: Math.round(performance.now() - started) };
    } catch (error) {
      // An aborted connection fails with an error that is not a ModelError.
      if (error instanceof ModelError) throw error;
      signal.throwIfAborted();
      if (deadline.expired()) {
        throw new ModelError('model_timeout', `The model did not respond within ${timeoutMs} ms.`);
      }
      throw error;
    } finally {
      deadline.end();
    }
  }

  function resolve(name: string): ResolvedModel {
    const resolved = resolveModelName(name);
    const missing = missingCredentials(resolved);
    if (missing !== undefined) throw invalidField('model', missing);
    return resolved;
  }

  /** The target of a call; without a provider it is the sandbox. */
  function targetOf({ model, signal }: Pick<ModelCall, 'model' | 'signal'>) {
    refuseInTransaction('A model');
    signal.throwIfAborted();
    const resolved = resolveForCall(model);
    return { resolved, provider: findProvider(resolved.provider) };
  }

  const batches = createBatchedModels(http, resolveForCall, settings);

  return {
    resolve,

    resolveEmbedding(name) {
      const resolved = resolve(name);
      const provider = findProvider(resolved.provider);
      if (provider !== undefined && provider.embeddingModel === undefined)
        throw invalidField('model', `${provider.name} does not support embeddings`);
      return resolved;
    },

    async generate(call) {
      const { provider, resolved } = targetOf(call);
      return timed(call, (signal) =>
        provider === undefined
          ? sandbox.generate(resolved.providerModelId, call, signal)
          : http.generate({ provider, resolved }, call, signal),
      );
    },

    async similarities(call) {
      const { provider, resolved } = targetOf(call);
      return timed(call, (signal) =>
        provider === undefined
          ? sandbox.similarities(resolved.providerModelId, call, signal)
          : http.similarities({ provider, resolved }, call, signal),
      );
    },

    priceOf(name, atInputTokens = 0) {
      return prices.priceOf(resolveModelName(name), atInputTokens);
    },

    batches,

    providers: () =>
      listProviders(prices, {
        isConfigured: (provider) => http.isConfigured(provider),
        hasBatches: ({ name }) => batches.problemOf(`${name}/any`) === undefined,
      }),

    async parameterProblems(name, parameters) {
      const resolved = resolveModelName(name);
      const provider = findProvider(resolved.provider);
      return provider === undefined ? [] : http.parameterProblems({ provider, resolved }, parameters);
    },

    async test(name) {
      if (name === 'sandbox') return { ms: 0, models: PLAIN_SANDBOX_MODELS.length };
      const provider = findProvider(name);
      if (provider === undefined) return undefined;
      const missing = missingCredentials({ provider: provider.name });
      if (missing !== undefined) return { ms: 0, error: new ModelError('model_authentication', missing) };
      return tests.run(name, () => testProvider(provider, http.connectionOf(provider)));
    },

    close: () => http.close(),
  };
}
