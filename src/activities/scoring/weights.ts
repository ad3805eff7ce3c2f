import { MAX_EXAMPLE_BYTES } from '../../services/datasets/upload-examples.ts';
import type { OpenExample } from '../../services/evaluations/run/open-examples.ts';
import { inputWeight } from '../input-weight.ts';

/**
 * The most memory that a byte of stored JSON takes after parsing: `{},` has 3 bytes, and an empty object with its list slot takes
 * 36 (measured with Node.js 24).
 */
const PARSED_FACTOR = 12;
/** PostgreSQL writes a space after each comma and colon. */
const WRITTEN_FACTOR = 1.5;
/** The reservation for a page of unknown weight: the weight of an example that fills a page. */
export const MAX_EXAMPLE_WEIGHT = PARSED_FACTOR * WRITTEN_FACTOR * MAX_EXAMPLE_BYTES;

/** The most memory that a loaded example takes, in bytes. */
export const weightOfExample = ({ bytes }: Pick<OpenExample, 'bytes'>): number => PARSED_FACTOR * bytes;

/**
 * The most memory that a running example takes in addition to {@link weightOfExample}, in bytes: its filled prompt, and a text for
 * each judge and scorer.
 * @param maxChars of a filled prompt, from the bytes of the example
 */
export const weightOfRun = (
  { bytes }: Pick<OpenExample, 'bytes'>,
  maxChars: (bytes: number) => number,
  askedAfterwards: number,
) => inputWeight(maxChars(bytes)) * (1 + askedAfterwards);
