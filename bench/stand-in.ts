import { z } from 'zod';
import { startListening } from './child.ts';

const Calls = z.object({ count: z.int(), by_prompt: z.record(z.string(), z.int()) });

/** A model with a fixed latency in a separate process, which counts its calls. */
export interface StandInModel {
  /** Settings of the service that make it the OpenAI provider. */
  settings: Record<string, string>;
  /** Number of calls so far, and the maximum for any one prompt. */
  calls(): Promise<{ count: number; mostOfOnePrompt: number }>;
  /** Resets the counts. */
  forget(): Promise<void>;
  stop(): Promise<void>;
}

export async function startModel(latencyMs: number): Promise<StandInModel> {
  const model = await startListening('../test/support/providers/openai-main.ts', ['--latency', String(latencyMs)]);
  const origin = `http://127.0.0.1:${model.port}`;
  return {
    settings: { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: `${origin}/v1` },
    async calls() {
      const { count, by_prompt: byPrompt } = Calls.parse(await (await fetch(`${origin}/__calls`)).json());
      return { count, mostOfOnePrompt: Math.max(0, ...Object.values(byPrompt)) };
    },
    async forget() {
      await (await fetch(`${origin}/__reset`, { method: 'POST' })).arrayBuffer();
    },
    stop: () => model.stop(),
  };
}
