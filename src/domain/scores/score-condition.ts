import { z } from 'zod';
import { scoreNameProblem } from './score-name.ts';

export const SCORE_OPERATORS = ['<=', '>=', '!=', '=', '<', '>'] as const;
export type ScoreOperator = (typeof SCORE_OPERATORS)[number];

/** Requires a score of this name whose value matches. Plain JSON. */
export interface ScoreCondition {
  name: string;
  operator: ScoreOperator;
  /** The value for numbers and booleans (`true` is 1); null: they do not match. */
  number: number | null;
  /** The value for categories and texts. */
  text: string;
}

const FORM = 'must be NAME OPERATOR VALUE, such as helpful<0.5, thumbs_up=true or topic=billing';
const CONDITION = /^(?:score\.)?([^<>=!\s]+)\s*(<=|>=|!=|=|<|>)\s*(.*)$/s;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const MAX_LENGTH = 500;

/** @returns the error, in words for the caller, if it is invalid */
export function parseScoreCondition(text: string): ScoreCondition | string {
  const [, name = '', operator = '', given = ''] = CONDITION.exec(text) ?? [];
  const isOperator = (symbol: string): symbol is ScoreOperator =>
    (SCORE_OPERATORS as readonly string[]).includes(symbol);
  if (!isOperator(operator) || given === '') return FORM;
  const problem = scoreNameProblem(name);
  if (problem !== undefined) return `${FORM}: the name ${problem}`;
  const number = numberOf(given);
  if (number === null && operator !== '=' && operator !== '!=') return `${FORM}: ${operator} compares only numbers`;
  return { name, operator, number, text: given };
}

function numberOf(given: string): number | null {
  if (given === 'true' || given === 'false') return given === 'true' ? 1 : 0;
  const number = NUMBER.test(given) ? Number(given) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

/** A condition as written by callers. */
export const showScoreCondition = ({ name, operator, text }: ScoreCondition): string => `${name}${operator}${text}`;

/** One condition of a caller. */
export const ScoreConditionText = z
  .string('must be a string')
  .max(MAX_LENGTH, `must be at most ${MAX_LENGTH} characters`)
  .transform((text, context) => {
    const parsed = parseScoreCondition(text);
    if (typeof parsed !== 'string') return parsed;
    context.addIssue({ code: 'custom', message: parsed });
    return z.NEVER;
  });

/** The maximum number of conditions of a filter. */
export const MAX_SCORE_CONDITIONS = 10;
