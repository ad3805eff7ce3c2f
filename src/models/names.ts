import { findProvider } from '@pydantic/genai-prices';
import { invalidField } from '../domain/errors.ts';
import { SANDBOX_MODELS, sandboxModelExists } from './sandbox-models.ts';

/** Providers that are called over HTTP. */
export const HTTP_PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;
export type HttpProvider = (typeof HTTP_PROVIDERS)[number];
export type ProviderName = HttpProvider | 'sandbox';

/** A parsed model name: `openai/gpt-4o-mini` is served by `openai`, which calls it `gpt-4o-mini`. */
export interface ResolvedModel {
  provider: ProviderName;
  /** The full name, `provider/model`. */
  model: string;
  /** What the provider itself calls the model. */
  providerModelId: string;
}

/** Bare names not in the price list, by the prefixes their makers use. */
const PREFIXES: readonly (readonly [RegExp, HttpProvider])[] = [
  [/^(gpt-|chatgpt-|o[134](-|$)|ft:(gpt|o[134]))/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
];

/** Some providers take the model id in the URL, so it must not contain anything that changes the URL. */
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:@+-]*(\/[A-Za-z0-9][A-Za-z0-9._:@+-]*)*$/;
const MAX_MODEL_ID_LENGTH = 200;

/**
 * Parses a model's name: `provider/model`, or a bare name that one provider is known to serve.
 *
 * @throws ApiError `invalid_request` with the path `model` when no provider is known for it or it isn't a model's name.
 */
export function resolveModelName(name: string): ResolvedModel {
  const slash = name.indexOf('/');
  const provider = slash === -1 ? providerOfBareName(name) : providerOfPrefix(name.slice(0, slash));
  if (provider === undefined) {
    const quoted = JSON.stringify(name.slice(0, 100));
    throw invalidField(
      'model',
      `no provider is known for ${quoted}; write provider/model, with one of ${[...HTTP_PROVIDERS, 'sandbox'].join(', ')} as the provider`,
    );
  }
  const providerModelId = slash === -1 ? name : name.slice(slash + 1);
  if (!isModelId(providerModelId)) {
    throw invalidField('model', `expects a model name after "${provider}/", made of letters, digits and . _ : @ + - /`);
  }
  if (provider === 'sandbox' && !sandboxModelExists(providerModelId)) {
    throw invalidField(
      'model',
      `there is no sandbox/${providerModelId}; there are ${Object.keys(SANDBOX_MODELS).join(', ')}`,
    );
  }
  return { provider, model: `${provider}/${providerModelId}`, providerModelId };
}

function providerOfPrefix(prefix: string): ProviderName | undefined {
  return prefix === 'sandbox' ? 'sandbox' : HTTP_PROVIDERS.find((provider) => provider === prefix);
}

/** Whether a provider may call a model so. */
export function isModelId(id: string): boolean {
  return MODEL_ID.test(id) && id.length <= MAX_MODEL_ID_LENGTH;
}

/** The provider whose models have ids that begin so. */
export function providerOfPrefixedId(id: string): HttpProvider | undefined {
  return PREFIXES.find(([pattern]) => pattern.test(id))?.[1];
}

function providerOfBareName(name: string): HttpProvider | undefined {
  const byPrefix = providerOfPrefixedId(name);
  if (byPrefix !== undefined) return byPrefix;
  const known = findProvider({ modelId: name })?.id;
  return HTTP_PROVIDERS.find((provider) => provider === known);
}
