import { findProvider } from '@pydantic/genai-prices';
import type { ListedModel, ListedProvider } from './model.ts';
import { isModelId, type ProviderName } from './names.ts';
import type { PriceBook } from './prices/price-book.ts';
import type { Provider } from './providers/provider.ts';
import { PROVIDERS } from './providers/registry.ts';
import { PLAIN_SANDBOX_MODELS } from './sandbox/models.ts';

/** The price list also has models that do not take and return text. */
const OTHER_MEDIA = /audio|computer-use|embedding|image|instruct|live|omni|realtime|transcribe|tts|vision/;

/** Ids of the provider's models that take and return text, from the price list. */
function listedIds(provider: Provider): string[] {
  const { bareNames, offered } = provider;
  return pricedModels(provider)
    .filter(({ deprecated }) => deprecated !== true)
    .map(({ id }) => id)
    .filter((id) => isModelId(id) && bareNames?.test(id) && (offered?.test(id) ?? true) && !OTHER_MEDIA.test(id));
}

const pricedModels = ({ priceList }: Pick<Provider, 'priceList'>) =>
  priceList === undefined ? [] : (findProvider({ providerId: priceList })?.models ?? []);

/** Context windows in tokens, by model id. */
const contextWindowsOf = (provider: Provider) =>
  new Map(pricedModels(provider).map(({ id, context_window: tokens }) => [id, tokens]));

/** What this installation can do with a provider. */
interface Abilities {
  isConfigured: (provider: Provider) => boolean;
  hasBatches: (provider: Provider) => boolean;
}

/** Every provider with its priced models: from the operator's file, the price list, or the sandbox. */
export function listProviders(prices: PriceBook, can: Abilities): ListedProvider[] {
  const own = prices.operatorModels();

  function modelsOf(
    provider: ProviderName,
    ids: readonly string[],
    contextWindows: ReadonlyMap<string, number | undefined> = new Map(),
  ): ListedModel[] {
    const prefix = `${provider}/`;
    const names = new Set([...ids.map((id) => `${prefix}${id}`), ...own.filter((model) => model.startsWith(prefix))]);
    return [...names].toSorted().flatMap((model) => {
      const providerModelId = model.slice(prefix.length);
      const pricing = prices.priceOf({ provider, model, providerModelId }, 0);
      const contextWindow = contextWindows.get(providerModelId) ?? null;
      return pricing === null ? [] : [{ model, pricing, contextWindow }];
    });
  }

  return [
    ...PROVIDERS.map((provider) => ({
      provider: provider.name,
      isConfigured: can.isConfigured(provider),
      hasBatches: can.hasBatches(provider),
      setting: provider.settings[provider.settings.needed],
      models: modelsOf(provider.name, listedIds(provider), contextWindowsOf(provider)),
    })),
    {
      provider: 'sandbox',
      isConfigured: true,
      hasBatches: false,
      setting: null,
      models: modelsOf('sandbox', PLAIN_SANDBOX_MODELS),
    },
  ];
}
