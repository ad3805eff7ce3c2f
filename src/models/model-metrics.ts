import { Counter, Histogram, type Registry } from 'prom-client';
import { ApiError } from '../domain/errors.ts';
import type { ClosableModels, ModelCall } from './model.ts';
import { MODEL_ERROR_CODES, ModelError } from './model-error.ts';
import { resolveModelName } from './names.ts';
import { PROVIDERS } from './providers/registry.ts';

export const PROVIDER_LABELS = [...PROVIDERS.map(({ name }) => name), 'sandbox'];
const KNOWN_PROVIDERS = new Set<string>(PROVIDER_LABELS);
const KNOWN_ERRORS = new Set<string>([...MODEL_ERROR_CODES, 'canceled', 'process_ended', 'none']);

/**
 * A provider as a metric label: its name if this service can call it, otherwise `other`. Callers choose model names, which must not
 * create series.
 */
export const providerLabel = (provider: string): string => (KNOWN_PROVIDERS.has(provider) ? provider : 'other');
/** The error of a call or execution as a metric label: a code that this service knows, otherwise `other`. */
export const errorLabel = (code: string): string => (KNOWN_ERRORS.has(code) ? code : 'other');

function providerOf(model: string): string {
  try {
    return resolveModelName(model).provider;
  } catch (error) {
    // The call itself rejects an invalid name.
    if (error instanceof ApiError) return 'other';
    throw error;
  }
}

/** Wraps models to count and time their calls: those of executions, evaluations, and judges, but not those in batches. */
export function countModelCalls(registry: Registry, models: ClosableModels): ClosableModels {
  const registers = [registry];
  const calls = new Counter({
    name: 'pms_model_calls_total',
    help: 'Calls to models that have ended, by how they failed',
    labelNames: ['provider', 'error'],
    registers,
  });
  const seconds = new Histogram({
    name: 'pms_model_call_seconds',
    help: 'Duration of calls to models, failed ones included',
    labelNames: ['provider'],
    buckets: [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300],
    registers,
  });
  // Starts every series at 0, so that its first event shows as an increase.
  for (const provider of PROVIDER_LABELS)
    for (const error of ['none', ...MODEL_ERROR_CODES]) calls.inc({ provider, error }, 0);
  async function counted<Response>(
    { model, signal }: Pick<ModelCall, 'model' | 'signal'>,
    ask: () => Promise<Response>,
  ): Promise<Response> {
    const provider = providerLabel(providerOf(model));
    const startedAt = performance.now();
    let error = 'none';
    try {
      return await ask();
    } catch (thrown) {
      error = signal.aborted ? 'canceled' : thrown instanceof ModelError ? thrown.code : 'other';
      throw thrown;
    } finally {
      calls.inc({ provider, error: errorLabel(error) });
      seconds.observe({ provider }, (performance.now() - startedAt) / 1_000);
    }
  }

  return {
    ...models,
    generate: (call) => counted(call, () => models.generate(call)),
    similarities: (call) => counted(call, () => models.similarities(call)),
  };
}
