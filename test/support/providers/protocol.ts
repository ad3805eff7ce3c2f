import type { IncomingMessage } from 'node:http';
import { z } from 'zod';

/** What a stand-in is to answer; null usage leaves it out. */
export interface CannedAnswer {
  text: string;
  /** In the provider's own words; default: a complete answer. */
  finishReason?: string;
  usage?: CannedUsage | null;
  /** The model that is said to have served it; default: the one asked for. */
  servedBy?: string;
  /** OpenAI's refusal. */
  refusal?: string;
  /** Merged into the body's top level. */
  extra?: Record<string, unknown>;
}

/** `input` includes `cached` and `cacheWrite`, `output` includes `reasoning`. */
export interface CannedUsage {
  input: number;
  output: number;
  cached?: number;
  reasoning?: number;
  cacheWrite?: number;
}

/** A request as a stand-in saw it. */
export interface SeenCall {
  /** Milliseconds since the epoch. */
  at: number;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  prompt: string;
}

/** How a stand-in misbehaves. Everything is off by default. */
export const Behaviour = z.strictObject({
  /** Wait before each answer, in milliseconds. */
  latencyMs: z.number().nonnegative().optional(),
  /** Every nth call is answered with 429 and `retryAfter`. */
  rateLimitEvery: z.int().positive().optional(),
  /** The `Retry-After` of a 429; default `1`. */
  retryAfter: z.string().optional(),
  /** Every nth call is answered with 500. */
  failEvery: z.int().positive().optional(),
  /**
   * `fail`: answers with `status`, `body` and `headers`; `hold`: answers when it is told to behave differently, or the same
   * again; `stall`: never answers; `hang-up`: closes the connection without an answer.
   */
  mode: z
    .enum(['answer', 'hold', 'fail', 'stall', 'stall-halfway', 'break-halfway', 'hang-up', 'nonsense', 'empty', 'huge'])
    .optional(),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  /** Every nth call whose prompt contains `matching` is answered without saying what it has used. */
  hideUsageEvery: z.int().positive().optional(),
  /** `mode` holds for every nth call only. */
  every: z.int().positive().optional(),
  /** `mode` holds for prompts that contain this only. */
  matching: z.string().optional(),
  /** `mode` holds after so many calls only. */
  after: z.int().nonnegative().optional(),
  /** `mode` holds for so many calls, then answers are normal again; default: until told otherwise. */
  times: z.int().positive().optional(),
});
export type Behaviour = z.infer<typeof Behaviour>;

/** A wire protocol: how a prompt is read from a request and an answer written. */
export interface Protocol {
  name: string;
  serves(path: string): boolean;
  promptOf(body: Record<string, unknown>): string;
  answer(call: SeenCall, canned: CannedAnswer): unknown;
  /** The answer of mode `empty`. */
  emptyAnswer(call: SeenCall): unknown;
  error(status: number, message: string): unknown;
}

/** About a fourth of the characters, as the default usage. */
export function usageOf(call: SeenCall, canned: CannedAnswer): Required<CannedUsage> | null {
  if (canned.usage === null) return null;
  const input = Math.ceil(call.prompt.length / 4);
  const output = Math.ceil(canned.text.length / 4);
  return { cached: 0, reasoning: 0, cacheWrite: 0, ...(canned.usage ?? { input, output }) };
}
