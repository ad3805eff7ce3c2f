import { Big } from 'big.js';
import { z } from 'zod';
import type { JsonValue } from '../../domain/text/json.ts';
import { passOrFail, requireExpected, ScoringError, type ScoringEvaluator, scored } from '../evaluator.ts';
import { evaluatorFields } from '../fields.ts';
import { toPlainText } from '../matching/json.ts';
import { quote } from '../matching/text.ts';

/** Longer numbers are not parsed: arithmetic on them could take long, and no output needs them. */
const MAX_NUMBER_LENGTH = 100;
const MAX_EXPONENT = 1_000;

// A sign counts only where it can't be a hyphen ("gpt-4", "5-3"); commas only between groups of three digits.
const NUMBER = String.raw`(?:(?<![\p{L}\p{N}])[+\-−])?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:[eE][+\-]?\d+)?`;

const Tolerance = z.number().min(0).max(1e15).default(0);

const NumericConfig = z
  .strictObject({
    ...evaluatorFields('numeric'),
    absolute_tolerance: Tolerance.meta({
      title: 'May be off by',
      description: 'The larger of the two tolerances counts.',
    }),
    relative_tolerance: Tolerance.meta({
      title: 'May be off by a share of',
      description: 'As a share of the expected number: 0.01 is 1 %.',
    }),
    extract: z
      .enum(['only', 'first', 'last', 'none'])
      .default('only')
      .meta({
        title: 'Number to compare',
        'x-enumDescriptions': {
          only: 'The only number, surrounded by any text',
          first: 'The first',
          last: 'The last',
          none: 'The output must be only a number',
        },
      }),
  })
  .meta({ title: 'Number', description: 'The number in the output is the expected one.' });

type NumericConfig = z.output<typeof NumericConfig>;

/**
 * 1 if the number in the output is the expected one, within the tolerance, otherwise 0. Decimal arithmetic, without float noise.
 */
export const numeric: ScoringEvaluator<NumericConfig> & { config: typeof NumericConfig } = {
  kind: 'scoring',
  isPassOrFail: () => true,
  config: NumericConfig,
  needsExpected: () => true,
  prepare: (config) => (example) => {
    const expected = expectedNumber(requireExpected(example));
    const found = findNumber(example.output, config.extract);
    if ('reason' in found) return scored(0, found.reason);
    const tolerance = largest(new Big(config.absolute_tolerance), expected.abs().times(config.relative_tolerance));
    const within = found.value.minus(expected).abs().lte(tolerance);
    return passOrFail(within, `the output's number is ${found.text} and not ${expected.toString()}`);
  },
};

function largest(a: Big, b: Big): Big {
  return a.gt(b) ? a : b;
}

function expectedNumber(expected: JsonValue): Big {
  const number = readNumber(toPlainText(expected).trim());
  if (number === null) {
    throw new ScoringError('missing_expected', `the expected value ${quote(toPlainText(expected))} is not a number`);
  }
  return number;
}

function findNumber(
  output: string,
  extract: NumericConfig['extract'],
): { value: Big; text: string } | { reason: string } {
  const texts = extract === 'none' ? [output.trim()] : output.match(new RegExp(NUMBER, 'gu'));
  const text = extract === 'last' ? texts?.at(-1) : texts?.at(0);
  if (text === undefined || texts === null) return { reason: `there is no number in the output ${quote(output)}` };
  if (extract === 'only' && texts.length > 1) {
    return {
      reason: `the output has ${texts.length} numbers, the first being ${texts.slice(0, 3).map(quote).join(', ')}`,
    };
  }
  const value = readNumber(text);
  return value === null ? { reason: `${quote(text)} is not a number that can be compared` } : { value, text };
}

/** Null if the text is not entirely a number, or too long to calculate with. */
function readNumber(text: string): Big | null {
  if (text.length > MAX_NUMBER_LENGTH || !new RegExp(`^${NUMBER}$`, 'u').test(text)) return null;
  const number = new Big(text.replaceAll(',', '').replace('−', '-').replace(/^\+/, ''));
  return Math.abs(number.e) > MAX_EXPONENT ? null : number;
}
