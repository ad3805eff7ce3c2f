import { z } from 'zod';
import { passOrFail, type ScoringEvaluator } from './evaluator.ts';
import { evaluatorFields } from './fields.ts';
import { compileLinearRegex, MAX_PATTERN_LENGTH, PatternError } from './linear-regex.ts';
import { limitTime } from './time-limit.ts';

const RegexConfig = z
  .strictObject({
    ...evaluatorFields('regex'),
    /** In RE2's syntax. */
    pattern: z.string().min(1).max(MAX_PATTERN_LENGTH),
    /** `i` ignore case, `m` `^` and `$` also at line ends, `s` `.` also matches line ends. */
    flags: z
      .string()
      .regex(/^(?!.*(.).*\1)[ims]*$/, 'use i, m and s, each at most once')
      .default(''),
    /** Whether the whole output must match, and not just a part of it. */
    full_match: z.boolean().default(false),
  })
  .superRefine((config, context) => {
    // The field's own bound has said so already.
    if (config.pattern.length > MAX_PATTERN_LENGTH) return;
    try {
      compileLinearRegex(config.pattern, config.flags);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      context.addIssue({ code: 'custom', path: ['pattern'], message: error.message });
    }
  });

type RegexConfig = z.output<typeof RegexConfig>;

/** 1 when the output matches the pattern, else 0. */
export const regex: ScoringEvaluator<RegexConfig> & { config: typeof RegexConfig } = {
  kind: 'scoring',
  config: RegexConfig,
  prepare(config) {
    const withPattern = limitTime(() => compileLinearRegex(config.pattern, config.flags));
    return ({ output }) => {
      const matches = withPattern((pattern) => (config.full_match ? pattern.testExact(output) : pattern.test(output)));
      return passOrFail(matches, `the pattern ${config.full_match ? 'is not the whole' : 'is nowhere in the'} output`);
    };
  },
};
