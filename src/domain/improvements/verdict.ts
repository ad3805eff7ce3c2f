import { points, type RunComparison } from '../evaluations/comparison.ts';
import { roundScore } from '../evaluations/scoring.ts';
import type { ImprovementResult } from './candidate.ts';
import { agreementInWords, type PeopleAgreement } from './people-agreement.ts';

const ALPHA = 0.05;
/** The smallest p-value that the random sign flips can give. */
const LEAST_P = 1 / 4_000;

/**
 * The p-value that an improvement must reach at the nth verdict on the same held-out examples: two-sided, so that half of it goes
 * to false improvements. The halves of all verdicts add up to 5 %: 1/(1·2) + 1/(2·3) + … = 1.
 *
 * @param look counted from 1
 */
export const neededP = (look: number): number => (look <= 1 ? ALPHA : ALPHA / (look * (look - 1)));

/** The smallest improvement of the mean score that can be proved: so many examples must change from wrong to right, and none back. Null if none can. */
export function leastProvable(examples: number, look: number): number | null {
  const needed = neededP(look);
  const changed = Math.ceil(1 + Math.log2(1 / needed) - 1e-9);
  return needed < LEAST_P || changed > examples ? null : roundScore(changed / examples);
}

/** One of the two that are compared. */
interface Side {
  evaluationId: string;
  /** US dollars of a call; null if unknown. */
  costPerCall: number | null;
  /** Characters of its wording. */
  length: number;
}

export interface VerdictInput {
  /** From the base (a) to the finalist (b), on the held-out examples. */
  comparison: RunComparison;
  look: number;
  candidate: number;
  base: Side;
  finalist: Side;
  /** The finalist's gain on the check examples. */
  checkGain: number;
  /** Default: null. */
  agreement?: PeopleAgreement | null;
}

/** What the search found. Everything but the result and the note is null without a candidate. */
export interface Verdict {
  result: ImprovementResult;
  candidate: number | null;
  evaluation_id: string | null;
  base_evaluation_id: string | null;
  examples: number | null;
  score_base: number | null;
  score: number | null;
  difference: number | null;
  interval: RunComparison['interval'];
  p_value: number | null;
  p_needed: number | null;
  look: number | null;
  note: string;
  by_evaluator: RunComparison['by_evaluator'];
  /** How well a judge agrees with people on the held-out examples. Missing in older verdicts. */
  agreement?: PeopleAgreement | null;
  /** How much better the candidate looked on the examples that chose it. */
  optimism: number | null;
  cost_per_call: { base: number | null; candidate: number | null } | null;
  length: { base: number; candidate: number } | null;
}

export const NO_CANDIDATE: Verdict = {
  result: 'no_candidate',
  candidate: null,
  evaluation_id: null,
  base_evaluation_id: null,
  examples: null,
  score_base: null,
  score: null,
  difference: null,
  interval: null,
  p_value: null,
  p_needed: null,
  look: null,
  note: 'No candidate was better than the prompt itself on the examples that choose. Nothing was tested. More or better examples help more than a second search.',
  by_evaluator: [],
  agreement: null,
  optimism: null,
  cost_per_call: null,
  length: null,
};

/** The verdict on the finalist, from examples that neither wrote nor chose it. */
export function verdictOf(input: VerdictInput): Verdict {
  const { comparison, look, candidate, base, finalist, checkGain, agreement = null } = input;
  const needed = neededP(look);
  const result = resultOf(comparison, needed);
  return {
    result,
    candidate,
    evaluation_id: finalist.evaluationId,
    base_evaluation_id: base.evaluationId,
    examples: comparison.examples_compared,
    score_base: comparison.score_a,
    score: comparison.score_b,
    difference: comparison.difference,
    interval: comparison.interval,
    p_value: comparison.p_value,
    p_needed: needed,
    look,
    note:
      noteOf(result, comparison, { look, needed, checkGain }) + (agreement === null ? '' : agreementInWords(agreement)),
    by_evaluator: comparison.by_evaluator,
    agreement,
    optimism: comparison.difference === null ? null : roundScore(checkGain - comparison.difference),
    cost_per_call: { base: base.costPerCall, candidate: finalist.costPerCall },
    length: { base: base.length, candidate: finalist.length },
  };
}

function resultOf({ withheld, interval, p_value: p, verdict }: RunComparison, needed: number): ImprovementResult {
  if (withheld !== null || interval === null || p === null) return 'no_proof';
  if (verdict === 'improvement' && interval.low > 0 && p <= needed) return 'improvement';
  return verdict === 'regression' ? 'regression' : 'no_proof';
}

function noteOf(
  result: ImprovementResult,
  { withheld, note, difference, interval, p_value: p, examples_compared: examples }: RunComparison,
  { look, needed, checkGain }: { look: number; needed: number; checkGain: number },
): string {
  if (withheld !== null || difference === null || interval === null || p === null)
    return `No improvement proved. ${note}`;
  const found =
    `${points(difference)} points on ${examples} examples it never saw (95 % CI ${points(interval.low)} to ${points(interval.high)}); ` +
    `${points(checkGain)} where it was chosen.`;
  if (result === 'improvement') return found;
  if (result === 'regression') return `Worse: ${found}`;
  const again =
    look > 1
      ? ` This is verdict ${look} on some of these examples: p = ${p} and at most ${roundScore(needed)} is needed.`
      : '';
  return `No improvement proved: ${found}${again}`;
}
