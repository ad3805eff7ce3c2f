import { z } from 'zod';
import type { JsonValue } from '../../domain/text/json.ts';
import { parseKeepingDigits } from '../../domain/text/json-digits.ts';
import { passOrFail, requireExpected, type ScoringEvaluator } from '../evaluator.ts';
import { CaseSensitive, evaluatorFields } from '../fields.ts';
import { equalJson, parseJson, toPlainText } from '../matching/json.ts';
import { comparable, quote } from '../matching/text.ts';

const ExactMatchConfig = z
  .strictObject({
    ...evaluatorFields('exact_match'),
    case_sensitive: CaseSensitive,
    trim: z.boolean().default(true).meta({ title: 'Ignore white space at both ends' }),
    normalize_whitespace: z.boolean().default(false).meta({ title: 'Treat any white space as one space' }),
  })
  .meta({ title: 'Exact match', description: 'The output is the expected value.' });

type ExactMatchConfig = z.output<typeof ExactMatchConfig>;

/** 1 if the output is the example's expected value, otherwise 0. */
export const exactMatch: ScoringEvaluator<ExactMatchConfig> & { config: typeof ExactMatchConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: ExactMatchConfig,
  needsExpected: () => true,
  prepare: (config) => (example) => {
    const expected = requireExpected(example);
    const wanted = toPlainText(expected);
    const equal =
      normalize(example.output, config) === normalize(wanted, config) || isSameJson(example.output, expected);
    return passOrFail(equal, `the output is ${quote(example.output)} and not ${quote(wanted)}`);
  },
};

function normalize(text: string, config: ExactMatchConfig): string {
  let normalized = config.normalize_whitespace ? text.replace(/\s+/gu, ' ') : text;
  if (config.trim) normalized = normalized.trim();
  return comparable(normalized, config);
}

/** Expected numbers, lists and objects match with any spacing and order of keys; expected texts do not. */
function isSameJson(output: string, expected: JsonValue): boolean {
  if (typeof expected === 'string') return false;
  const parsed = parseJson(output, parseKeepingDigits);
  return parsed.ok && equalJson(parsed.value, expected);
}
