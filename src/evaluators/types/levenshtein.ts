import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { requireExpected, type ScoringEvaluator, scored } from '../evaluator.ts';
import { CaseSensitive, evaluatorFields } from '../fields.ts';
import { toPlainText } from '../matching/json.ts';
import { comparable } from '../matching/text.ts';

/** The distance takes time proportional to the product of the lengths: about 0.1 s for two texts of this many characters. */
const MAX_COMPARED_LENGTH = 20_000;

const LevenshteinConfig = z
  .strictObject({
    ...evaluatorFields('levenshtein'),
    case_sensitive: CaseSensitive,
  })
  .meta({
    title: 'Similar text',
    description: 'How similar the output and the expected value are, by the edits between them.',
  });

type LevenshteinConfig = z.output<typeof LevenshteinConfig>;

/**
 * The similarity of the output and the expected value: 1 minus the edit distance divided by the longer text's length, in UTF-16
 * code units.
 */
export const levenshtein: ScoringEvaluator<LevenshteinConfig> & { config: typeof LevenshteinConfig } = {
  kind: 'scoring',
  config: LevenshteinConfig,
  needsExpected: () => true,
  prepare(config) {
    return (example) => {
      const output = comparable(example.output, config);
      const expected = comparable(toPlainText(requireExpected(example)), config);
      const longest = Math.max(output.length, expected.length);
      if (longest === 0) return scored(1);
      const { edits, bounded } = countEdits(output, expected);
      const reason = `${edits} of ${longest} characters differ`;
      if (!bounded) return scored(1 - edits / longest, edits === 0 ? null : reason);
      const note = `beyond ${MAX_COMPARED_LENGTH} characters from the first difference all counts as different`;
      return scored(1 - edits / longest, `at most ${reason}: ${note}`);
    };
  },
};

/** `bounded`: the texts are too long for the exact distance, and `edits` is an upper bound. */
function countEdits(a: string, b: string): { edits: number; bounded: boolean } {
  // Common prefixes and suffixes need no edits and can be skipped.
  let start = 0;
  const shortest = Math.min(a.length, b.length);
  while (start < shortest && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shortest - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middleA = a.slice(start, a.length - end);
  const middleB = b.slice(start, b.length - end);

  const edits = distance(middleA.slice(0, MAX_COMPARED_LENGTH), middleB.slice(0, MAX_COMPARED_LENGTH));
  const rest = Math.max(middleA.length, middleB.length) - MAX_COMPARED_LENGTH;
  return rest > 0 ? { edits: edits + rest, bounded: true } : { edits, bounded: false };
}
