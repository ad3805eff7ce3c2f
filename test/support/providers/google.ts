import { z } from 'zod';
import { googleBatches } from './google-batches.ts';
import { Base64, JsonSchemaObject, type Protocol, type StreamEvent, usageOf, wordsOf } from './protocol.ts';
import { type StandIn, type StandInOptions, startStandIn } from './stand-in.ts';

const MimeType = z.string().regex(/^[a-z]+\/[A-Za-z0-9.+-]+$/);
const Arguments = z.record(z.string(), z.unknown());
const Part = z.union([
  z.strictObject({ text: z.string(), thoughtSignature: z.string().optional() }),
  z.strictObject({ inlineData: z.strictObject({ mimeType: MimeType, data: Base64 }) }),
  z.strictObject({ fileData: z.strictObject({ mimeType: MimeType, fileUri: z.string() }) }),
  z.strictObject({
    functionCall: z.strictObject({ id: z.string().optional(), name: z.string(), args: Arguments }),
    thoughtSignature: z.string().optional(),
  }),
  z.strictObject({
    functionResponse: z.strictObject({ id: z.string().optional(), name: z.string(), response: Arguments }),
  }),
]);
type Part = z.infer<typeof Part>;
const Content = z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(Part).min(1) });
type Content = z.infer<typeof Content>;

const GENERATION_FIELDS = `frequencyPenalty logprobs maxOutputTokens mediaResolution presencePenalty responseJsonSchema
  responseLogprobs responseMimeType responseSchema seed stopSequences temperature thinkingConfig topK topP candidateCount`;

const Request = z.strictObject({
  contents: z.array(Content).min(1).superRefine(requireCallsAndResponses),
  systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text: z.string() })).min(1) }).optional(),
  generationConfig: z
    .strictObject(Object.fromEntries(GENERATION_FIELDS.split(/\s+/).map((name) => [name, z.unknown().optional()])))
    .optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({ name: z.string(), description: z.string(), parametersJsonSchema: JsonSchemaObject }),
        ),
      }),
    )
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z
        .strictObject({
          mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']),
          allowedFunctionNames: z.array(z.string()).optional(),
        })
        .refine(({ mode, allowedFunctionNames }) => mode === 'ANY' || allowedFunctionNames === undefined),
    })
    .optional(),
  safetySettings: z.unknown().optional(),
  labels: z.unknown().optional(),
});

/** The responses to a model's calls must be in the next content, one for each call. */
function requireCallsAndResponses(contents: Content[], context: z.RefinementCtx): void {
  let open = 0;
  for (const [index, { role, parts }] of contents.entries()) {
    const count = (field: string) => parts.filter((part) => field in part).length;
    if (count('functionResponse') !== open) {
      context.addIssue({
        code: 'custom',
        message: `contents.${index}: as many function responses as calls are needed`,
      });
    }
    open = role === 'model' ? count('functionCall') : 0;
  }
}

const STATUS_NAMES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

interface Answer {
  candidates: { content: { role: string; parts: { text?: string }[] }; finishReason: string; index: number }[];
  usageMetadata?: unknown;
}

function textOf(part: Part): string {
  return 'text' in part ? part.text : '';
}

/** Gemini's `generateContent`. Its `candidatesTokenCount` leaves out the thoughts. */
const protocol: Protocol = {
  name: 'google',
  serves: (path) => /:(generateContent|streamGenerateContent)$/.test(path),
  promptOf: (body) => Request.parse(body).contents.at(-1)?.parts.map(textOf).join('') ?? '',
  // Without `alt=sse` the pieces would be a JSON array, which nothing here requests.
  wantsStream: ({ path, query }) => path.endsWith(':streamGenerateContent') && query === 'alt=sse',
  answer(call, canned) {
    const usage = usageOf(call, canned);
    return {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              ...(canned.toolCalls !== undefined && canned.text === '' ? [] : [{ text: canned.text }]),
              ...(canned.toolCalls ?? []).map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
            ],
          },
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
  events(_call, answer): StreamEvent[] {
    const { candidates, usageMetadata, ...rest } = answer as unknown as Answer;
    const pieces = candidates.flatMap(({ content, ...candidate }) => {
      const parts = content.parts.flatMap((part) =>
        part.text === undefined ? [part] : wordsOf(part.text).map((text) => ({ ...part, text })),
      );
      return parts.map((part, at) => ({
        // Fields about the whole response come with the last piece.
        ...(at === parts.length - 1 ? candidate : { index: candidate.index }),
        content: { role: 'model', parts: [part] },
      }));
    });
    return pieces.map((candidate, at) => ({
      data: { ...rest, candidates: [candidate], ...(at === pieces.length - 1 && { usageMetadata }) },
    }));
  },
  emptyAnswer: () => ({ usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 } }),
  error: (status, message) => ({ error: { code: status, message, status: STATUS_NAMES[status] ?? 'INTERNAL' } }),
  batches: googleBatches,
};

/** A stand-in for Google's Gemini API. */
export function startGoogleServer(options?: StandInOptions): Promise<StandIn> {
  return startStandIn(protocol, '/v1beta', options);
}
