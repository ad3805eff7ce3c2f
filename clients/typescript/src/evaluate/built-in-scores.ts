import type { OpenExample } from '../generated/types.gen.ts';
import { equalJson } from './equal-json.ts';

/** A score with an explanation. */
export interface ScoreWithReason {
  /** 0 to 1. */
  score: number;
  reason?: string | null;
}

type BuiltIn = (output: string, example: OpenExample) => ScoreWithReason;

const NOTHING_EXPECTED = { score: 0, reason: 'missing_expected: the example has no expected value' };
const pass = (passed: boolean, reason: string): ScoreWithReason =>
  passed ? { score: 1 } : { score: 0, reason: reason.slice(0, 500) };
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Equivalent to the service's evaluators of the same name, with their defaults. */
export const BUILT_IN = {
  exact_match(output, { expected }) {
    if (expected === undefined) return NOTHING_EXPECTED;
    const json = typeof expected === 'string' ? undefined : parsed(output);
    const isSame =
      output.normalize().trim() === asText(expected).normalize().trim() ||
      (json !== undefined && equalJson(json.value, expected));
    return pass(isSame, 'the output is not what is expected');
  },
  contains(output, { expected }) {
    if (expected === undefined) return NOTHING_EXPECTED;
    const isTexts = Array.isArray(expected) && expected.every((each) => typeof each === 'string');
    const values: string[] = isTexts ? expected : [asText(expected)];
    if (values.length === 0 || values.includes(''))
      return { score: 0, reason: 'missing_expected: the expected value is empty, so there is nothing to look for' };
    const missing = values.filter((value) => !output.normalize().includes(value.normalize()));
    return pass(missing.length === 0, `not found in the output: ${missing.join(', ')}`);
  },
} satisfies Record<string, BuiltIn>;

/** Scores that need no custom function. */
export type BuiltInScore = keyof typeof BUILT_IN;
