import { isObject, type Json, textOf } from '../../json.ts';

/** The part of an id that says how a provider is called, where it is one that the service calls too. */
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

/** The name that the service has for a model of promptfoo; undefined where it has none. */
export function modelOf(provider: unknown): string | undefined {
  if (providerId(provider) === 'echo') return 'sandbox/echo';
  return nameIn(PROVIDERS, provider);
}

/** The same of a model for embeddings. */
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
