import type { HttpModel, HttpModels } from '../http-models.ts';
import type { ModelSettings } from '../model.ts';
import { ModelError } from '../model-error.ts';
import { type ResolvedModel, resolveModelName } from '../names.ts';
import { findProvider, type HttpProvider } from '../providers/registry.ts';
import { valueAt } from '../requests/json-body.ts';
import { createAnthropicBatches } from './anthropic-batches.ts';
import type { BatchedModels, BatchRef } from './batched-models.ts';
import { createGoogleBatches } from './google-batches.ts';
import { createOpenAiBatches } from './openai-batches.ts';
import type { ProviderBatches, ProviderBatchRef } from './provider-batches.ts';

const COMPATIBLE_SETTING = 'OPENAI_COMPATIBLE_BATCHES=true';

/** @param resolveForCall throws a ModelError if a model cannot be called here */
export function createBatchedModels(
  http: HttpModels,
  resolveForCall: (name: string) => ResolvedModel,
  settings: ModelSettings,
): BatchedModels {
  const connectionOf = (name: HttpProvider) => http.connectionOf(providerNamed(name));
  const apis: Partial<Record<string, ProviderBatches>> = {
    openai: createOpenAiBatches(connectionOf('openai')),
    anthropic: createAnthropicBatches(connectionOf('anthropic')),
    google: createGoogleBatches(connectionOf('google')),
    ...(settings.openAiCompatibleBatches === true && {
      'openai-compatible': createOpenAiBatches(connectionOf('openai-compatible')),
    }),
  };

  function apiOf(provider: string): ProviderBatches {
    const api = apis[provider];
    if (api === undefined) throw new ModelError('model_invalid_request', problemOfProvider(provider) ?? '');
    return api;
  }

  function problemOfProvider(provider: string): string | undefined {
    if (apis[provider] !== undefined) return undefined;
    return provider === 'openai-compatible'
      ? `set ${COMPATIBLE_SETTING} if the server at its base URL has OpenAI's batch API`
      : `no batch API of ${provider} is called here`;
  }

  function called(name: string): { api: ProviderBatches; model: HttpModel } {
    const resolved = resolveForCall(name);
    const api = apiOf(resolved.provider);
    return { api, model: { provider: providerNamed(resolved.provider), resolved } };
  }

  function batchOf(ref: BatchRef): { api: ProviderBatches; full: ProviderBatchRef } {
    const { api, model } = called(ref.model);
    return { api, full: { ...ref, modelId: model.resolved.providerModelId } };
  }

  return {
    problemOf: (name) => problemOfProvider(resolveModelName(name).provider),
    priceOf: (name, atInputTokens = 0) => http.batchPriceOf(resolveModelName(name), atInputTokens),
    limitsOf: (provider) => apiOf(provider).limits,

    customIdOf: ({ tag }, seq) => `${tag}-${seq}`,
    seqOf({ tag }, customId) {
      const seq = customId.startsWith(`${tag}-`) ? customId.slice(tag.length + 1) : '';
      return /^(0|[1-9]\d{0,14})$/.test(seq) ? Number(seq) : undefined;
    },
    async toLine(call, customId) {
      const { api, model } = called(call.model);
      const request = await http.requestOf(model, call);
      const allowed = model.provider.places.max_tokens.map((place) => valueAt(request.body, place));
      return {
        text: `${api.lineOf(customId, request)}\n`,
        maxOutputTokens: allowed.find((tokens) => typeof tokens === 'number'),
      };
    },

    async submit(ref, file, signal) {
      const { api, full } = batchOf(ref);
      return api.submit(full, file, signal);
    },
    async find(ref, sought, signal) {
      const { api, full } = batchOf(ref);
      return api.find(full, sought, signal);
    },
    read: async (ref, id, signal) => batchOf(ref).api.read(id, signal),
    results: (ref, { providerBatchId }, signal) => batchOf(ref).api.results(providerBatchId, signal),
    cancel: async (ref, id, signal) => batchOf(ref).api.cancel(id, signal),
    async deleteFiles(ref, files, signal) {
      const { api, full } = batchOf(ref);
      await api.deleteFiles(full, files, signal);
    },

    async toResponse(call, { kind, httpStatus, body, error }) {
      if (kind === 'unfinished') {
        throw new ModelError('model_unavailable', 'The batch ended before this call was made.');
      }
      const { model } = called(call.model);
      const response =
        kind === 'failed'
          ? { status: httpStatus || 200, text: JSON.stringify({ error }) }
          : { status: httpStatus, text: JSON.stringify(body) };
      return { ...(await http.responseOf(model, call, response)), modelMs: 0 };
    },
  };
}

function providerNamed(name: string) {
  const provider = findProvider(name);
  if (provider === undefined) throw new ModelError('model_invalid_request', `${name} is not called over HTTP.`);
  return provider;
}
