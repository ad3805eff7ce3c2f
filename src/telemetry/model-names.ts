import { type ResolvedModel, resolveModelName } from '../models/names.ts';

/** Provider names in the conventions; the others keep our name. */
const PROVIDER_NAMES: Record<string, string> = { google: 'gcp.gemini', mistral: 'mistral_ai' };

/** Provider and model in the conventions' terms. The call itself rejects an invalid name. */
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
