import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { BatchProtocol } from './batches.ts';

/** The response of a stand-in; null usage omits it. */
export interface CannedAnswer {
  text: string;
  /** In the provider's own words; default: a complete answer. */
  finishReason?: string;
  usage?: CannedUsage | null;
  /** The model reported in the response; default: the requested one. */
  servedBy?: string;
  /** The tool calls that it requests. */
  toolCalls?: { id: string; name: string; input: unknown }[];
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

/** A request as received by a stand-in. */
export interface RecordedCall {
  /** Milliseconds since the epoch. */
  at: number;
  path: string;
  /** Without its question mark. */
  query: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  prompt: string;
}

/** How a stand-in misbehaves. Everything is off by default. */
export const Behaviour = z.strictObject({
  /** Wait before each answer, in milliseconds. */
  latencyMs: z.number().nonnegative().optional(),
  /** Every nth call is answered after `slowMs` instead. */
  slowEvery: z.int().positive().optional(),
  /** Default: 1000. */
  slowMs: z.number().nonnegative().optional(),
  /** Every nth call is answered with 429 and `retryAfter`. */
  rateLimitEvery: z.int().positive().optional(),
  /** The `Retry-After` of a 429; default `1`. */
  retryAfter: z.string().optional(),
  /** Every nth call is answered with 500. */
  failEvery: z.int().positive().optional(),
  /**
   * `fail`: responds with `status`, `body` and `headers`; `hold`: responds when its behavior is set again; `stall`: never
   * responds; `hang-up`: closes the connection without a response. In the middle of a response or a stream `stall-halfway` goes
   * silent and `break-halfway` closes the connection; in the middle of a stream `end-halfway` ends it as if it were complete,
   * and `fail-halfway` sends `body` as an error.
   */
  mode: z
    .enum([
      'answer',
      'hold',
      'fail',
      'stall',
      'stall-halfway',
      'break-halfway',
      'end-halfway',
      'fail-halfway',
      'hang-up',
      'nonsense',
      'page',
      'empty',
      'huge',
    ])
    .optional(),
  /** Wait before each event of a stream, in milliseconds. */
  eventMs: z.number().nonnegative().optional(),
  /** Responds in one piece, even if a stream is requested. */
  ignoresStream: z.boolean().optional(),
  status: z.int().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  /** Every nth call whose prompt contains `matching` gets a response without usage. */
  hideUsageEvery: z.int().positive().optional(),
  /** `mode` holds for every nth call only. */
  every: z.int().positive().optional(),
  /** `mode` holds for prompts that contain this only. */
  matching: z.string().optional(),
  /** `mode` applies only after that many calls. */
  after: z.int().nonnegative().optional(),
  /** `mode` applies to that many calls, then responses are normal again; default: until changed. */
  times: z.int().positive().optional(),
});
export type Behaviour = z.infer<typeof Behaviour>;

/** One event of a stream; data other than strings is sent as JSON. */
export interface StreamEvent {
  event?: string;
  data: unknown;
}

/** A wire protocol: how a prompt is read from a request and an answer written. */
export interface Protocol {
  name: string;
  serves(path: string): boolean;
  /**
   * The last message's text.
   * @throws ZodError if the request violates the provider's API: an unknown field, a wrong shape, a result without its call
   */
  promptOf(body: Record<string, unknown>): string;
  answer(call: RecordedCall, canned: CannedAnswer): Record<string, unknown>;
  wantsStream(call: RecordedCall): boolean;
  /** An answer in pieces, a word each. */
  events(call: RecordedCall, answer: Record<string, unknown>): StreamEvent[];
  /** The answer of mode `empty`. */
  emptyAnswer(call: RecordedCall): unknown;
  error(status: number, message: string): unknown;
  /** Its batches, if the stand-in has them. */
  batches?: BatchProtocol;
}

/** About a fourth of the characters, as the default usage. */
export function usageOf(call: RecordedCall, canned: CannedAnswer): Required<CannedUsage> | null {
  if (canned.usage === null) return null;
  const input = Math.ceil(call.prompt.length / 4);
  const output = Math.ceil(canned.text.length / 4);
  return { cached: 0, reasoning: 0, cacheWrite: 0, ...(canned.usage ?? { input, output }) };
}

/** The pieces that a text is streamed in. */
export function wordsOf(text: string): string[] {
  return text.split(/(?<=\s)(?=\S)/);
}

/** The pieces that a tool call's input is streamed in. */
export function halvesOf(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

export const HttpUrl = z.url({ protocol: /^https?$/ });
/** Not a regular expression: for 20 MiB, backtracking may exhaust the stack. */
export const Base64 = z
  .string()
  .min(1)
  .refine((text) => Buffer.from(text, 'base64').toString('base64') === text, 'must be base64');
export const DataUrl = (mediaType: RegExp) =>
  z.string().refine((url) => {
    const [, type = '', data = ''] = /^data:([^;,]+);base64,(.+)$/s.exec(url) ?? [];
    return mediaType.test(type) && Base64.safeParse(data).success;
  }, 'no data URL');
export const JsonSchemaObject = z.looseObject({ type: z.literal('object') });
