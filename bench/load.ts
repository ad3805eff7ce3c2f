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
