import { isObject } from '../../domain/text/json.ts';
import { fieldOf, listOf, type RequestBody } from '../requests/json-body.ts';
import type { SkippedKinds } from '../responses/understood.ts';
import { type Assembler, assignInside, assignKnown, indexOf } from './assembler.ts';

/** @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
export function createGenerateContentAssembler(skipped: SkippedKinds): Assembler {
  const top: RequestBody = {};
  const candidates = new Map<number, { fields: RequestBody; parts: unknown[] }>();

  return {
    add({ candidates: pieces, ...rest }) {
      assignKnown(top, rest);
      if (pieces === undefined && !isObject(rest['usageMetadata']) && !isBlocked(rest['promptFeedback']))
        skipped.add('event', rest['type']);
      let text = '';
      for (const piece of listOf(pieces).filter(isObject)) {
        const { index: place, content, groundingMetadata, ...fields } = piece;
        const index = indexOf(place) ?? 0;
        const candidate = candidates.get(index) ?? { fields: { index }, parts: [] };
        candidates.set(index, candidate);
        assignKnown(candidate.fields, fields);
        assignInside(candidate.fields, 'groundingMetadata', groundingMetadata);
        for (const part of listOf(fieldOf(content, 'parts'))) {
          candidate.parts.push(part);
          const said = fieldOf(part, 'text');
          if (index === 0 && typeof said === 'string' && fieldOf(part, 'thought') !== true) text += said;
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

/** A blocked prompt has no candidates. */
function isBlocked(feedback: unknown): boolean {
  return isObject(feedback) && feedback['blockReason'] !== undefined;
}
