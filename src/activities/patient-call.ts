import { setTimeout as delay } from 'node:timers/promises';
import type { ModelAnswer, ModelCall, Models } from '../models/model.ts';
import { ModelError } from '../models/model-error.ts';
import { createProviderThrottle, type ProviderThrottle } from './provider-throttle.ts';

/** Tries that count: a refusal for going too fast does not. */
const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** A provider that refuses for longer than this has no quota left for us. */
const MAX_REFUSED_MS = 60 * 60_000;

/** An answer and how many calls it took. */
export type PatientAnswer = ModelAnswer & { attempts: number };

/** Calls models until they answer or there is no hope, at the pace that each provider bears. */
export interface PatientModels {
  /** @throws ModelError that trying again can't mend, with `attempts` */
  generate(call: ModelCall): Promise<PatientAnswer>;
}

/** How long a provider that answered 429 wants to be left alone; undefined for other errors. */
function refusedFor(error: unknown): number | undefined {
  if (!(error instanceof ModelError) || error.code !== 'model_rate_limited' || !error.retryable) return undefined;
  return error.retryAfterMs ?? FIRST_WAIT_MS * 2;
}

/** One throttle a provider, shared by everything in this process. */
export function createPatientModels(models: Models): PatientModels {
  const throttles = new Map<string, ProviderThrottle>();
  const throttleOf = (model: string) => {
    const provider = model.split('/', 1).join('');
    const throttle = throttles.get(provider) ?? createProviderThrottle();
    throttles.set(provider, throttle);
    return throttle;
  };
  return {
    async generate(call) {
      const throttle = throttleOf(call.model);
      const started = Date.now();
      let attempts = 0;
      let counted = 0;
      for (;;) {
        attempts += 1;
        try {
          const answer = await throttle.run(call.signal, () => models.generate(call), refusedFor);
          return { ...answer, attempts };
        } catch (error) {
          if (!(error instanceof ModelError) || !error.retryable) throw error;
          const refused = refusedFor(error);
          if (refused === undefined) {
            counted += 1;
            if (counted >= MAX_ATTEMPTS) throw error;
            const backOff = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (counted - 1)) * (0.75 + Math.random() / 2);
            await delay(Math.max(backOff, error.retryAfterMs ?? 0), undefined, { signal: call.signal });
          } else if (Date.now() + refused - started > MAX_REFUSED_MS) throw error;
        }
      }
    },
  };
}
