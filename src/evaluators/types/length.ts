import { z } from 'zod';
import { passOrFail, type ScoringEvaluator } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';

const Limit = z.int().min(0).max(10_000_000).optional();

const LengthConfig = z
  .strictObject({
    ...evaluatorFields('length'),
    unit: z
      .enum(['characters', 'words'])
      .default('characters')
      .meta({
        title: 'Unit',
        'x-enumDescriptions': { characters: 'Characters', words: 'Words' },
      }),
    at_least: Limit.meta({ title: 'At least' }),
    at_most: Limit.meta({ title: 'At most' }),
  })
  .superRefine(({ at_least: least, at_most: most }, context) => {
    if (least === undefined && most === undefined)
      context.addIssue({ code: 'custom', path: ['at_most'], message: 'give at_least, at_most or both' });
    if (least !== undefined && most !== undefined && least > most)
      context.addIssue({ code: 'custom', path: ['at_most'], message: 'must not be below at_least' });
  })
  .meta({ title: 'Length', description: 'The length of the output is within limits.' });

type LengthConfig = z.output<typeof LengthConfig>;

/** 1 if the number of characters (UTF-16 code units) or words (runs without white space) is within the bounds, otherwise 0. */
export const length: ScoringEvaluator<LengthConfig> & { config: typeof LengthConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: LengthConfig,
  prepare:
    ({ unit, at_least: least = 0, at_most: most = Number.POSITIVE_INFINITY }) =>
    ({ output }) => {
      const counted = unit === 'characters' ? output.length : countWords(output);
      const wanted = counted < least ? `fewer than ${least}` : `more than ${most}`;
      return passOrFail(counted >= least && counted <= most, `the output has ${counted} ${unit}, ${wanted}`);
    },
};

function countWords(text: string): number {
  let words = 0;
  for (const _ of text.matchAll(/\S+/g)) words += 1;
  return words;
}
