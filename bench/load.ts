import { z } from 'zod';

/** Requests for `http-load.ts` to make. */
export const Load = z.object({
  url: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  callers: z.int(),
  /** Requests in all, or seconds to go on for. */
  count: z.int().optional(),
  seconds: z.number().optional(),
  /** The answer has to hold this. */
  expect: z.string(),
});

export type Load = z.infer<typeof Load>;

/** How a load went. */
export const LoadResult = z.object({ requests: z.int(), seconds: z.number(), latenciesMs: z.array(z.number()) });
export type LoadResult = z.infer<typeof LoadResult>;

/** Runs of the prompt `bench` that wait for their end. */
export function executionLoad(
  { origin, key }: { origin: string; key: string },
  variables: Record<string, unknown> = { name: 'Ada' },
): Omit<Load, 'callers'> {
  return {
    url: `${origin}/v1/executions`,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt_name: 'bench', variables }),
    expect: '"status":"completed"',
  };
}
