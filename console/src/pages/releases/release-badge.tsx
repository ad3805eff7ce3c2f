import { statusInWords, toneOf } from './in-words.ts';

/** The state of a release, a verdict or a decision. */
export const ReleaseBadge = ({ status }: { status: string }) => (
  <span className={`badge ${toneOf(status)}`}>{statusInWords(status)}</span>
);
