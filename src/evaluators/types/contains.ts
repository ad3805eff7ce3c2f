import { z } from 'zod';
import { passOrFail, requireExpected, type ScoredExample, ScoringError, type ScoringEvaluator } from '../evaluator.ts';
import { CaseSensitive, evaluatorFields } from '../fields.ts';
import { toPlainText } from '../matching/json.ts';
import { comparable, includesText, quote } from '../matching/text.ts';

const Value = z.string().min(1).max(10_000);

const ContainsConfig = z
  .strictObject({
    ...evaluatorFields('contains'),
    value: Value.optional().meta({
      title: 'Text',
      description:
        "Instead of `values`. If neither is set: the example's expected value, or each item if it is a list of strings.",
      'x-field': 'none',
    }),
    values: z
      .array(Value)
      .min(1)
      .max(100)
      .optional()
      .meta({ title: 'Texts', description: 'One per line. If empty: the expected value.' }),
    mode: z
      .enum(['all', 'any'])
      .default('all')
      .meta({ title: 'Required texts', 'x-enumDescriptions': { all: 'All of them', any: 'Any of them' } }),
    case_sensitive: CaseSensitive,
  })
  .refine((config) => config.value === undefined || config.values === undefined, {
    path: ['values'],
    error: 'give either value or values, not both',
  })
  .meta({ title: 'Contains', description: 'The output contains texts.' });

type ContainsConfig = z.output<typeof ContainsConfig>;

/** 1 if the values are found in the output, otherwise 0. */
export const contains: ScoringEvaluator<ContainsConfig> & { config: typeof ContainsConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: ContainsConfig,
  needsExpected: ({ value, values }) => value === undefined && values === undefined,
  prepare(config) {
    const fixed = config.values ?? (config.value === undefined ? undefined : [config.value]);
    return (example) => {
      const values = fixed ?? expectedValues(example);
      const output = comparable(example.output, config);
      const missing = values.filter((value) => !includesText(output, comparable(value, config)));
      const passed = config.mode === 'all' ? missing.length === 0 : missing.length < values.length;
      return passOrFail(passed, `not found in the output: ${missing.map(quote).join(', ')}`);
    };
  },
};

function expectedValues(example: ScoredExample): string[] {
  const expected = requireExpected(example);
  const texts = Array.isArray(expected) ? expected.filter((item) => typeof item === 'string') : [];
  const values = Array.isArray(expected) && texts.length === expected.length ? texts : [toPlainText(expected)];
  // Every output contains the empty text, which would always pass.
  if (values.length === 0 || values.includes('')) {
    throw new ScoringError('missing_expected', 'the expected value is empty, so there is nothing to look for');
  }
  return values;
}
