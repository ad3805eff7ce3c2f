import { MAX_EXAMPLE_BYTES } from '../../services/datasets/upload-examples.ts';
import type { OpenExample } from '../../services/evaluations/run/open-examples.ts';
import { inputWeight } from '../input-weight.ts';

/**
 * What a byte of stored JSON takes at most once it is parsed: `{},` is 3 bytes, and an empty object with its place in a list takes 36
 * (measured with Node.js 24).
 */
const PARSED_FACTOR = 12;
/** PostgreSQL writes a space behind each comma and colon. */
const WRITTEN_FACTOR = 1.5;
/** What is reserved for a page before its weight is known: that of an example which has a page to itself. */
export const MAX_EXAMPLE_WEIGHT = PARSED_FACTOR * WRITTEN_FACTOR * MAX_EXAMPLE_BYTES;

/** The bytes that a loaded example takes at most. */
export const weightOfExample = ({ bytes }: Pick<OpenExample, 'bytes'>): number => PARSED_FACTOR * bytes;

/**
 * The bytes that an example takes at most while it is run, besides those of {@link weightOfExample}: its prompt is filled, and each judge
 * and scorer gets a text of its own.
 * @param maxChars of a filled prompt, from the bytes of the example
 */
export const weightOfRun = (
  { bytes }: Pick<OpenExample, 'bytes'>,
  maxChars: (bytes: number) => number,
  askedAfterwards: number,
) => inputWeight(maxChars(bytes)) * (1 + askedAfterwards);
