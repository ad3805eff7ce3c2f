import { z } from 'zod';
import { createBatchClient, TIMEOUTS } from './batches/batch-client.ts';
import type { ProviderConnection } from './http-models.ts';
import type { ProviderTest } from './model.ts';
import { ModelError } from './model-error.ts';
import type { Provider } from './providers/provider.ts';

const TIMEOUT_MS = 15_000;
/** Only the timeout ends a test, because several callers may share it. */
const NEVER = new AbortController().signal;

/** The lists of OpenAI and compatible APIs, Anthropic, and Google. Some servers send a bare list. */
const ModelList = z.union([
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data.length),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => models.length),
  z.array(z.unknown()).transform((models) => models.length),
]);

/** Requests the list of a provider's models. */
export async function testProvider(provider: Provider, connection: ProviderConnection): Promise<ProviderTest> {
  const { apiKey } = connection;
  const auth = apiKey === undefined ? {} : provider.authorization(apiKey);
  const client = createBatchClient(connection, auth, { ...TIMEOUTS, request: TIMEOUT_MS });
  const started = performance.now();
  const ms = () => Math.round(performance.now() - started);
  try {
    const { text } = await client.askFor({ method: 'GET', path: '/models', signal: NEVER });
    return { ms: ms(), models: countIn(text) };
  } catch (error) {
    if (error instanceof ModelError) return { ms: ms(), error };
    throw error;
  }
}

function countIn(text: string): number | null {
  try {
    return ModelList.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
