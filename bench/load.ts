import { z } from 'zod';

/** Requests for `http-load.ts` to send. */
export const Load = z.object({
  /** `{random}` in it is replaced for each request. */
  url: z.string(),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  callers: z.int(),
  /** Total number of requests, or duration in seconds. */
  count: z.int().optional(),
  seconds: z.number().optional(),
  /**
   * Starts this many requests per second, however long earlier ones take. Default: a caller sends the next one after a response.
   */
  perSecond: z.number().optional(),
  /**
   * A process whose CPU time between request and response is recorded: the work before the response, independent of other load.
   */
  cpuOf: z.int().optional(),
  /** Text that the response must contain. Default: any response is accepted. */
  expect: z.string().optional(),
});

export type Load = z.infer<typeof Load>;

/** The result of a load. */
export const LoadResult = z.object({
  requests: z.int(),
  seconds: z.number(),
  latenciesMs: z.array(z.number()),
  /** CPU time of `cpuOf` until the response. */
  cpuMs: z.array(z.number()).optional(),
  /** Number of responses by status. */
  statuses: z.record(z.string(), z.int()).optional(),
});
export type LoadResult = z.infer<typeof LoadResult>;

/** The spans to send: traces of one agent step and 15 steps below it, a third of them model calls. */
export const SpanLoad = z.object({
  origin: z.string(),
  /** One exporter per key. */
  keys: z.array(z.string()),
  seconds: z.number(),
  /** Spans per request. */
  size: z.number(),
  /** Bytes of each of the two texts of a span. */
  textBytes: z.number(),
});
export type SpanLoad = z.infer<typeof SpanLoad>;
export const SpanResult = z.object({ spans: z.number(), seconds: z.number(), latenciesMs: z.array(z.number()) });
export type SpanResult = z.infer<typeof SpanResult>;

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
