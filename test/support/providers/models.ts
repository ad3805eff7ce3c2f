import { createModels } from '../../../src/models/create-models.ts';
import { type ClosableModels, type ModelCall, ModelError, type ModelSettings } from '../../../src/models/model.ts';
import { PATIENCE_MS } from '../wait-for.ts';

/** The key every stand-in is called with. */
export const TEST_KEY = 'sk-test-0123456789abcdef';

const OFF = { apiKey: undefined, baseUrl: undefined };

/** Models of the stand-ins at these base URLs; a provider without one has no credentials. */
export function modelsAt(
  baseUrls: Partial<Record<keyof Omit<ModelSettings, 'pricesFile'>, string>>,
  options: { pricesFile?: string; warn?: (message: string) => void } = {},
): ClosableModels {
  const at = (baseUrl: string | undefined) => (baseUrl === undefined ? OFF : { apiKey: TEST_KEY, baseUrl });
  return createModels(
    {
      openai: at(baseUrls.openai),
      anthropic: at(baseUrls.anthropic),
      google: at(baseUrls.google),
      openaiCompatible: at(baseUrls.openaiCompatible),
      pricesFile: options.pricesFile,
    },
    options.warn ? { warn: options.warn } : {},
  );
}

/** A call with nothing special about it. */
export function callOf(model: string, rest: Partial<ModelCall> = {}): ModelCall {
  return {
    model,
    input: 'Say hi',
    parameters: {},
    signal: new AbortController().signal,
    timeoutMs: PATIENCE_MS,
    ...rest,
  };
}

/** The `ModelError` a call ends in; anything else fails the test. */
export async function modelErrorOf(call: Promise<unknown>): Promise<ModelError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error('The call succeeded.');
}
