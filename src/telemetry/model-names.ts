import { type ResolvedModel, resolveModelName } from '../models/names.ts';

/** What the conventions call our providers; the others have our name. */
const PROVIDER_NAMES: Record<string, string> = { google: 'gcp.gemini', mistral: 'mistral_ai' };

/** Provider and model as the conventions have them. A name that can't be called is the call's to refuse. */
export function namesOf(model: string) {
  let resolved: Pick<ResolvedModel, 'provider' | 'providerModelId'> | undefined;
  try {
    resolved = resolveModelName(model);
  } catch {}
  const provider = resolved?.provider ?? '_OTHER';
  return {
    'gen_ai.provider.name': PROVIDER_NAMES[provider] ?? provider,
    'gen_ai.request.model': resolved?.providerModelId ?? model,
  };
}
