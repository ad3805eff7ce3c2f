import type { CodeResult, OpenExample } from '../generated/types.gen.ts';
import { BUILT_IN, type BuiltInScore, type ScoreWithReason } from './built-in-scores.ts';

/** Scores an output from 0 to 1; `true` means 1. */
export type Scorer<Output> = (
  output: Output,
  example: OpenExample,
) => number | boolean | ScoreWithReason | Promise<number | boolean | ScoreWithReason>;

/** A scorer, or the name of a built-in one; optionally with a custom name and weight. */
export type ScoreSpec<Output> =
  | BuiltInScore
  | Scorer<Output>
  | { name: string; score: BuiltInScore | Scorer<Output>; weight?: number };

export interface NamedScorer<Output> {
  name: string;
  weight: number;
  score: Scorer<Output>;
}

/** An output as stored: a string unchanged, undefined as null, anything else as JSON. */
export const outputText = (output: unknown): string | null =>
  output === undefined || output === null ? null : typeof output === 'string' ? output : JSON.stringify(output);

/** @throws TypeError for a score without a name, or an unknown name */
export function namedScorers<Output>(specs: readonly ScoreSpec<Output>[]): NamedScorer<Output>[] {
  return specs.map((spec) => {
    if (typeof spec === 'object') return { name: spec.name, weight: spec.weight ?? 1, score: scorerOf(spec.score) };
    const name = typeof spec === 'string' ? spec : spec.name;
    if (name === '') throw new TypeError('Give an anonymous function a name: { name, score }.');
    return { name, weight: 1, score: scorerOf(spec) };
  });
}

function scorerOf<Output>(score: BuiltInScore | Scorer<Output>): Scorer<Output> {
  if (typeof score === 'function') return score;
  if (!Object.hasOwn(BUILT_IN, score))
    throw new TypeError(`There is no built-in score "${score}", only ${Object.keys(BUILT_IN).join(' and ')}.`);
  return (output, example) => BUILT_IN[score](outputText(output) ?? '', example);
}

/** @throws Error naming the score that is invalid or failed */
export async function scoreOutput<Output>(
  scorers: readonly NamedScorer<Output>[],
  output: Output,
  example: OpenExample,
): Promise<NonNullable<CodeResult['scores']>> {
  const scores: NonNullable<CodeResult['scores']> = {};
  for (const { name, score } of scorers) {
    try {
      const given = await score(output, example);
      const { score: value, reason } = typeof given === 'object' ? given : { score: Number(given), reason: null };
      if (!(value >= 0 && value <= 1)) throw new RangeError(`a score must be from 0 to 1, but is ${value}`);
      scores[name] = { score: value, reason: typeof reason === 'string' ? reason.slice(0, 500) : null };
    } catch (cause) {
      throw new Error(`${name}: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`, {
        cause,
      });
    }
  }
  return scores;
}
