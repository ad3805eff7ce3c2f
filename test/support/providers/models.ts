import { createModels } from '../../../src/models/create-models.ts';
import { type ClosableModels, type ModelCall, type ModelDelta, ModelError } from '../../../src/models/model.ts';
import type { HttpProvider } from '../../../src/models/providers/registry.ts';
import type { AllowPrivate } from '../../../src/outbound/target.ts';
import { PATIENCE_MS } from '../wait-for.ts';

/** The key for every stand-in. */
export const TEST_KEY = 'sk-test-0123456789abcdef';

/** Models of the stand-ins at these base URLs; providers without one have no credentials. */
export function modelsAt(
  baseUrls: Partial<Record<HttpProvider, string>>,
  options: {
    pricesFile?: string;
    hasCompatibleBatches?: boolean;
    allowPrivate?: AllowPrivate;
    warn?: (message: string) => void;
  } = {},
): ClosableModels {
  const providers = Object.entries(baseUrls).map(([name, baseUrl]) => [name, { apiKey: TEST_KEY, baseUrl }]);
  return createModels(
    {
      providers: Object.fromEntries(providers),
      pricesFile: options.pricesFile,
      openAiCompatibleBatches: options.hasCompatibleBatches,
    },
    {
      ...(options.allowPrivate && { allowPrivate: options.allowPrivate }),
      ...(options.warn && { warn: options.warn }),
    },
  );
}

/** A call with nothing special about it. */
export function callOf(model: string, rest: Partial<ModelCall> = {}): ModelCall {
  return {
    workspace: 'ws_test',
    model,
    input: 'Say hi',
    parameters: {},
    signal: new AbortController().signal,
    timeoutMs: PATIENCE_MS,
    ...rest,
  };
}

/** The `ModelError` of a call; anything else fails the test. */
export async function modelErrorOf(call: Promise<unknown>): Promise<ModelError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error('The call succeeded.');
}

/** A streamed call, and the pieces that it received. */
export function streamed(model: string, rest: Partial<ModelCall> = {}): { call: ModelCall; deltas: ModelDelta[] } {
  const deltas: ModelDelta[] = [];
  return { call: callOf(model, { ...rest, onDelta: (delta) => deltas.push(delta) }), deltas };
}

/** The texts of the pieces. */
export function textsOf(deltas: readonly ModelDelta[]): string[] {
  return deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : []));
}
