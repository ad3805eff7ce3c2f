import { isObject, type Json, textOf } from '../../json.ts';

/** Matches the provider in an id, for providers that the service supports. */
const PROVIDERS: [RegExp, string][] = [
  [/^openai:(?:(?:chat|responses):)?([^:]+)$/, 'openai'],
  [/^anthropic:(?:messages:)?([^:]+)$/, 'anthropic'],
  [/^google:([^:]+)$/, 'google'],
  [/^mistral:([^:]+)$/, 'mistral'],
];
const EMBEDDINGS: [RegExp, string][] = [
  [/^openai:embeddings?:([^:]+)$/, 'openai'],
  [/^google:embeddings?:([^:]+)$/, 'google'],
  [/^mistral:embeddings?:([^:]+)$/, 'mistral'],
];

function nameIn(known: [RegExp, string][], provider: unknown): string | undefined {
  const id = providerId(provider);
  for (const [pattern, prefix] of known) {
    const model = id === undefined ? undefined : pattern.exec(id)?.[1];
    if (model !== undefined && /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/.test(model)) return `${prefix}/${model}`;
  }
  return undefined;
}

/** The service's name for a promptfoo model; undefined if there is none. */
export function modelOf(provider: unknown): string | undefined {
  if (providerId(provider) === 'echo') return 'sandbox/echo';
  return nameIn(PROVIDERS, provider);
}

/** The same for embedding models. */
export function embeddingModelOf(provider: unknown): string | undefined {
  return nameIn(EMBEDDINGS, provider);
}

export function providerId(provider: unknown): string | undefined {
  if (typeof provider === 'string') return provider;
  return isObject(provider) ? textOf(provider['id']) : undefined;
}

export function providerConfig(provider: unknown): Json {
  return isObject(provider) && isObject(provider['config']) ? provider['config'] : {};
}
