import { z } from 'zod';
import { isObject } from '../../domain/text/json.ts';
import type { RequestBody } from '../requests/json-body.ts';
import { type Assembler, assignInside, assignKnown } from './assembler.ts';

const Candidate = z.looseObject({
  index: z.int().default(0),
  content: z.looseObject({ parts: z.array(z.looseObject({})).nullish() }).nullish(),
});
const Chunk = z.looseObject({ candidates: z.array(Candidate).nullish() });

/** @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
export function createGenerateContentAssembler(): Assembler {
  const top: RequestBody = {};
  const candidates = new Map<number, { fields: RequestBody; parts: RequestBody[] }>();

  return {
    add(event) {
      const chunk = Chunk.parse(event);
      const { candidates: pieces, ...rest } = chunk;
      assignKnown(top, rest);
      let text = '';
      for (const { index, content, groundingMetadata, ...fields } of pieces ?? []) {
        const candidate = candidates.get(index) ?? { fields: { index }, parts: [] };
        candidates.set(index, candidate);
        assignKnown(candidate.fields, fields);
        assignInside(candidate.fields, 'groundingMetadata', groundingMetadata);
        for (const part of content?.parts ?? []) {
          candidate.parts.push(part);
          if (index === 0 && typeof part['text'] === 'string' && part['thought'] !== true) text += part['text'];
        }
      }
      return text;
    },
    isComplete: () => candidates.get(0)?.fields['finishReason'] !== undefined || isBlocked(top['promptFeedback']),
    body: () => ({
      ...top,
      ...(candidates.size > 0 && {
        candidates: [...candidates.values()].map(({ fields, parts }) => ({
          ...fields,
          ...(parts.length > 0 && { content: { role: 'model', parts } }),
        })),
      }),
    }),
  };
}

/** A prompt that is refused has no candidates. */
function isBlocked(feedback: unknown): boolean {
  return isObject(feedback) && feedback['blockReason'] !== undefined;
}
