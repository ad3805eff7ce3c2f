import { v5 } from 'uuid';
import { type ScoreSubject, subjectKey } from './score-subject.ts';

/** RFC 9562, section 5.5: of the names that this service makes of scores. */
const NAMESPACE = '3b0f7a52-6c1e-4d0a-9a70-5d1b6d2f8c14';

const idOf = (...parts: string[]) => v5(JSON.stringify(parts), NAMESPACE);

/** The id of what an evaluator says of a subject: storing it again replaces it, so that nothing is scored twice. UUID. */
export const evaluatorScoreId = (rule: string, version: string, name: string, subject: ScoreSubject): string =>
  idOf('evaluator', rule, version, name, subjectKey(subject));

/** The id of what a user says by a feedback token: saying it again replaces it. UUID. */
export const feedbackScoreId = (name: string, subject: ScoreSubject): string =>
  idOf('feedback', name, subjectKey(subject));
