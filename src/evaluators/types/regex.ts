import { z } from 'zod';
import { passOrFail, type ScoringEvaluator } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';
import { compileLinearRegex, MAX_PATTERN_LENGTH, PatternError } from '../matching/linear-regex.ts';

const RegexConfig = z
  .strictObject({
    ...evaluatorFields('regex'),
    pattern: z.string().min(1).max(MAX_PATTERN_LENGTH).meta({ title: 'Pattern', description: "In RE2's syntax." }),
    flags: z
      .string()
      // Checked first because the expression takes quadratic time.
      .max(3, { error: 'use i, m and s, each at most once', abort: true })
      .regex(/^(?!.*(.).*\1)[ims]*$/, 'use i, m and s, each at most once')
      .default('')
      .meta({
        title: 'Flags',
        description:
          'Any of i (upper and lower case are the same), m (^ and $ also at line ends) and s (the dot also matches line ends).',
      }),
    full_match: z.boolean().default(false).meta({ title: 'The whole output must match' }),
  })
  .meta({ title: 'Regular expression', description: 'The output matches a pattern.' });

type RegexConfig = z.output<typeof RegexConfig>;

/** 1 if the output matches the pattern, otherwise 0. */
export const regex: ScoringEvaluator<RegexConfig> & { config: typeof RegexConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: RegexConfig,
  fault(config) {
    try {
      compileLinearRegex(config.pattern, config.flags);
      return null;
    } catch (error) {
      if (error instanceof PatternError) return { option: 'pattern', message: error.message };
      throw error;
    }
  },
  prepare(config) {
    const pattern = compileLinearRegex(config.pattern, config.flags);
    return ({ output }) => {
      const matches = config.full_match ? pattern.testExact(output) : pattern.test(output);
      return passOrFail(matches, `the pattern ${config.full_match ? 'is not the whole' : 'is nowhere in the'} output`);
    };
  },
};
