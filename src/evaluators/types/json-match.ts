import { z } from 'zod';
import type { JsonValue } from '../../domain/text/json.ts';
import { parseKeepingDigits } from '../../domain/text/json-digits.ts';
import { requireExpected, type ScoredExample, type ScoringEvaluator, scored } from '../evaluator.ts';
import { evaluatorFields, PartialCredit, StripCodeFence } from '../fields.ts';
import { isJsonValue, jsonFault, parseJson } from '../matching/json.ts';
import { matchJson } from '../matching/json-matcher.ts';
import { stripCodeFence } from '../matching/text.ts';

const JsonMatchConfig = z
  .strictObject({
    ...evaluatorFields('json_match'),
    value: z
      .unknown()
      .superRefine((value, context) => {
        const fault = value === undefined ? null : jsonFault(value);
        if (fault !== null) context.addIssue({ code: 'custom', message: `the value is ${fault}` });
      })
      .optional()
      .meta({ title: 'JSON to find', description: 'Any JSON. Default: the expected value.' }),
    mode: z
      .enum(['exact', 'subset'])
      .default('exact')
      .meta({
        title: 'Keys and items that are not expected',
        'x-enumDescriptions': { exact: 'Count against the output', subset: 'Are allowed' },
      }),
    ignore_array_order: z.boolean().default(false).meta({ title: 'Lists may be in any order' }),
    partial_credit: PartialCredit,
    strip_code_fence: StripCodeFence,
  })
  .meta({ title: 'JSON match', description: 'The expected JSON is in the output.' });

type JsonMatchConfig = z.output<typeof JsonMatchConfig>;

/** The share of the expected JSON found in the output: 1 for all of it. */
export const jsonMatch: ScoringEvaluator<JsonMatchConfig> & { config: typeof JsonMatchConfig } = {
  kind: 'scoring',
  isPassOrFail: (config) => !config.partial_credit,
  config: JsonMatchConfig,
  needsExpected: ({ value }) => value === undefined,
  prepare(config) {
    const options = { mode: config.mode, ignoreArrayOrder: config.ignore_array_order };
    return (example) => {
      const expected = wantedValue(config, example);
      const parsed = parseJson(
        config.strip_code_fence ? stripCodeFence(example.output) : example.output,
        parseKeepingDigits,
      );
      if (!parsed.ok) return scored(0, `the output is ${parsed.reason}`);
      const { matched, total, differences } = matchJson(expected, parsed.value, options);
      if (matched === total) return scored(1);
      const reason = `${matched} of ${total} values match; first differences at ${differences.join(', ')}`;
      return scored(config.partial_credit ? matched / total : 0, reason);
    };
  },
};

/** An expected text that is JSON stands for its value: a CSV dataset has no other way to hold an object. */
function wantedValue(config: JsonMatchConfig, example: ScoredExample): JsonValue {
  if (isJsonValue(config.value)) return config.value;
  const expected = requireExpected(example);
  if (typeof expected !== 'string') return expected;
  const parsed = parseJson(expected, parseKeepingDigits);
  return parsed.ok ? parsed.value : expected;
}
