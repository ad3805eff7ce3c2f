import type { z } from 'zod';
import { traceUuid } from '../../domain/ids.ts';
import type { ScoreSubject } from '../../domain/scores/score-subject.ts';
import type { GrantedSubject } from '../../services/scores/feedback-token.ts';
import type { ConversationSubject, NewScore, TraceSubject } from './schema.ts';

export function toTraceSubject(
  given: z.output<typeof TraceSubject> | z.output<typeof ConversationSubject>,
): GrantedSubject {
  if ('conversation_id' in given) return { conversationId: given.conversation_id };
  return { traceId: traceUuid(given.trace_id), spanId: given.span_id ?? null };
}

/** The subject that a caller scores. */
export function toSubject(given: z.output<typeof NewScore>['subject']): ScoreSubject {
  if ('execution_id' in given) return { executionId: given.execution_id };
  if ('evaluation_id' in given) return { evaluationId: given.evaluation_id, exampleId: given.example_id };
  return toTraceSubject(given);
}
