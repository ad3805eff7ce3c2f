import { type Judged, judgeAgreement, type Measure } from '../scores/agreement.ts';
import type { JsonValue } from '../text/json.ts';

/** An example that people have scored, and what both prompts answered. */
export interface JudgedExample {
  expected: JsonValue;
  /** The name of the score, from the example's metadata; null: its expected value is not by people. */
  score: string | null;
  base: string;
  candidate: string;
}

/** How well the base and the candidate, as judges, agree with people. */
export interface PeopleAgreement {
  /** The name of the score. */
  score: string;
  /** Examples with a usable answer of both. */
  examples: number;
  base: Measure[];
  candidate: Measure[];
}

/** @returns null unless all examples have a value that people gave for the same score */
export function peopleAgreement(examples: readonly JudgedExample[]): PeopleAgreement | null {
  const [first] = examples;
  const type = typeof first?.expected;
  if (first === undefined || first.score === null || !['boolean', 'number', 'string'].includes(type)) return null;
  if (examples.some(({ score, expected }) => score !== first.score || typeof expected !== type)) return null;
  const isNumeric = type === 'number';
  const scoreOf = (answer: string) => {
    const text = answer.trim();
    if (isNumeric) return text === '' ? Number.NaN : Number(text);
    return type === 'boolean' ? text.toLowerCase() : text;
  };
  const usable = examples.filter(
    ({ base, candidate }) => !isNumeric || [base, candidate].every((answer) => Number.isFinite(scoreOf(answer))),
  );
  const measuresOf = (side: 'base' | 'candidate') => {
    const judged = usable.map(
      (example): Judged => ({
        judge: scoreOf(example[side]),
        people: scoreOf(String(example.expected as boolean | number | string)),
      }),
    );
    return judgeAgreement(isNumeric ? 'numeric' : 'categorical', judged).measures;
  };
  return {
    score: first.score,
    examples: usable.length,
    base: measuresOf('base'),
    candidate: measuresOf('candidate'),
  };
}

const shown = (value: number) => value.toFixed(2);

/** In a sentence; empty without a measure. */
export function agreementInWords({ score, base, candidate }: PeopleAgreement): string {
  const [before, after] = [base[0], candidate[0]];
  if (after === undefined || after.value === null) return '';
  const { name, value, interval } = after;
  const range = interval === null ? '' : ` (95 % CI ${shown(interval.lower)} to ${shown(interval.upper)})`;
  const measure = name === 'cohen_kappa' ? "Cohen's kappa" : "Spearman's rho";
  const was = before === undefined || before.value === null ? '' : `, the base ${shown(before.value)}`;
  return ` Agreement with people on "${score}": ${measure} ${shown(value)}${range}${was}.`;
}
