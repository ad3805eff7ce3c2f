import { anthropic } from './anthropic.ts';
import { google } from './google.ts';
import { mistral } from './mistral.ts';
import { openai } from './openai.ts';
import { openAiCompatible } from './openai-compatible.ts';
import type { Provider } from './provider.ts';

/** The providers called over HTTP, in listing order. */
export const PROVIDERS = [openai, anthropic, google, mistral, openAiCompatible] as const;

export type HttpProvider = (typeof PROVIDERS)[number]['name'];

/** The provider with this name; undefined if there is none. */
export function findProvider(name: string): (Provider & { name: HttpProvider }) | undefined {
  return PROVIDERS.find((provider) => provider.name === name);
}
