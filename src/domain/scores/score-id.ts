import { v5 } from 'uuid';
import { type ScoreSubject, subjectKey } from './score-subject.ts';

/** The namespace (RFC 9562, section 5.5) for names that this service derives from scores. */
const NAMESPACE = '3b0f7a52-6c1e-4d0a-9a70-5d1b6d2f8c14';

const idOf = (...parts: string[]) => v5(JSON.stringify(parts), NAMESPACE);

/** The id of an evaluator's score of a subject: storing it again replaces it, so that nothing is scored twice. UUID. */
export const evaluatorScoreId = (rule: string, version: string, name: string, subject: ScoreSubject): string =>
  idOf('evaluator', rule, version, name, subjectKey(subject));

/** The UUID of a score that a span reports for its step: reporting it again replaces it. */
export const reportedScoreId = (name: string, subject: ScoreSubject): string => idOf('span', name, subjectKey(subject));

/** The id of a score submitted with a feedback token: submitting it again replaces it. UUID. */
export const feedbackScoreId = (name: string, subject: ScoreSubject): string =>
  idOf('feedback', name, subjectKey(subject));
