/**
 * What a score is about: an execution, an example of an evaluation, a trace, a step of a trace, or a conversation. Ids are UUIDs;
 * `exampleId` is the example's key, `spanId` 16 hexadecimal digits, `conversationId` the application's own id.
 */
export type ScoreSubject =
  | { executionId: string }
  | { evaluationId: string; exampleId: string }
  | { traceId: string; spanId: string | null }
  | { conversationId: string };

/** The subjects that a queue can hold. */
export type ReviewedSubject = Exclude<ScoreSubject, { conversationId: string }>;

/** The columns of a subject; those of other kinds are null. */
export interface SubjectIds {
  execution_id: string | null;
  evaluation_id: string | null;
  example_id: string | null;
  trace_id: string | null;
  span_id: string | null;
  conversation_id: string | null;
}

/** A key that identifies a subject. */
export function subjectKey(subject: ScoreSubject): string {
  if ('executionId' in subject) return subject.executionId;
  if ('traceId' in subject) return `trace ${subject.traceId} ${subject.spanId ?? ''}`;
  if ('conversationId' in subject) return `conversation ${subject.conversationId}`;
  return `${subject.evaluationId} ${subject.exampleId}`;
}

export const subjectIds = (subject: ScoreSubject): SubjectIds => ({
  execution_id: 'executionId' in subject ? subject.executionId : null,
  evaluation_id: 'evaluationId' in subject ? subject.evaluationId : null,
  example_id: 'exampleId' in subject ? subject.exampleId : null,
  trace_id: 'traceId' in subject ? subject.traceId : null,
  span_id: 'traceId' in subject ? subject.spanId : null,
  conversation_id: 'conversationId' in subject ? subject.conversationId : null,
});

/** The subject of a stored score. */
export function subjectOf(ids: SubjectIds): ScoreSubject {
  if (ids.execution_id !== null) return { executionId: ids.execution_id };
  if (ids.trace_id !== null) return { traceId: ids.trace_id, spanId: ids.span_id };
  if (ids.conversation_id !== null) return { conversationId: ids.conversation_id };
  return { evaluationId: ids.evaluation_id ?? '', exampleId: ids.example_id ?? '' };
}
