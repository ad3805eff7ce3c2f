import { findProvider as findListed } from '@pydantic/genai-prices';
import { invalidField } from '../domain/errors.ts';
import { findProvider, type HttpProvider, PROVIDERS } from './providers/registry.ts';
import { SANDBOX_MODELS, sandboxModelExists } from './sandbox/models.ts';

export type ProviderName = HttpProvider | 'sandbox';

/** A parsed model name: `openai/gpt-4o-mini` is served by `openai`, which calls it `gpt-4o-mini`. */
export interface ResolvedModel {
  provider: ProviderName;
  /** The full name, `provider/model`. */
  model: string;
  /** The provider's own name for the model. */
  providerModelId: string;
}

/** Some providers take the model id in the URL, so it must not contain anything that changes the URL. */
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:@+-]*(\/[A-Za-z0-9][A-Za-z0-9._:@+-]*)*$/;
const MAX_MODEL_ID_LENGTH = 200;

/**
 * Parses a model's name: `provider/model`, or a bare name that one provider is known to serve.
 *
 * @throws ApiError `invalid_request` with the path `model` if no provider is known for it or it is not a valid name.
 */
export function resolveModelName(name: string): ResolvedModel {
  const slash = name.indexOf('/');
  const provider = slash === -1 ? providerOfBareName(name) : providerOfPrefix(name.slice(0, slash));
  if (provider === undefined) {
    const quoted = JSON.stringify(name.slice(0, 100));
    throw invalidField(
      'model',
      `no provider is known for ${quoted}; write provider/model, with one of ${[...PROVIDERS.map((known) => known.name), 'sandbox'].join(', ')} as the provider`,
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
  return prefix === 'sandbox' ? 'sandbox' : findProvider(prefix)?.name;
}

/** Whether a provider could use this model id. */
export function isModelId(id: string): boolean {
  return MODEL_ID.test(id) && id.length <= MAX_MODEL_ID_LENGTH;
}

/** Finds the provider by the maker's prefixes or in the price list. */
function providerOfBareName(name: string): HttpProvider | undefined {
  const listed = () => findListed({ modelId: name })?.id;
  const provider =
    PROVIDERS.find(({ bareNames }) => bareNames?.test(name)) ??
    PROVIDERS.find(({ priceList }) => priceList !== undefined && priceList === listed());
  return provider?.name;
}
