import { z } from 'zod';
import { type Protocol, usageOf } from './protocol.ts';
import { type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';

const Request = z.object({ contents: z.array(z.object({ parts: z.array(z.object({ text: z.string() })) })).min(1) });

const STATUS_NAMES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** Gemini's `generateContent`. Its `candidatesTokenCount` leaves out the thoughts. */
const protocol: Protocol = {
  name: 'google',
  serves: (path) => path.endsWith(':generateContent'),
  promptOf: (body) =>
    Request.parse(body)
      .contents.at(-1)
      ?.parts.map(({ text }) => text)
      .join('') ?? '',
  answer(call, canned) {
    const usage = usageOf(call, canned);
    return {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: canned.text }] },
          finishReason: canned.finishReason ?? 'STOP',
          index: 0,
        },
      ],
      modelVersion: canned.servedBy ?? /models\/([^/:]+)/.exec(call.path)?.[1],
      ...(usage !== null && {
        usageMetadata: {
          promptTokenCount: usage.input,
          candidatesTokenCount: usage.output - usage.reasoning,
          thoughtsTokenCount: usage.reasoning,
          cachedContentTokenCount: usage.cached,
          totalTokenCount: usage.input + usage.output,
        },
      }),
      ...canned.extra,
    };
  },
  emptyAnswer: () => ({ usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 } }),
  error: (status, message) => ({ error: { code: status, message, status: STATUS_NAMES[status] ?? 'INTERNAL' } }),
};

/** A stand-in for Google's Gemini API. */
export function startGoogleServer(options?: StandInOptions): Promise<StandIn> {
  return startStandIn(protocol, '/v1beta', options);
}
