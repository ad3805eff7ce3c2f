/** What a score is about: an execution, or an example of an evaluation. Ids are UUIDs; `exampleId` is the example's key. */
export type ScoreSubject = { executionId: string } | { evaluationId: string; exampleId: string };

/** A key that identifies a subject. */
export const subjectKey = (subject: ScoreSubject): string =>
  'executionId' in subject ? subject.executionId : `${subject.evaluationId} ${subject.exampleId}`;
