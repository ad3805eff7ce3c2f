// How `max_cost` is kept: the verdict is reserved first, proposals share the rest, and each of their runs is an evaluation with its own `max_cost`.

/** The sizes of a search. */
export interface SearchPlan {
  train: number;
  check: number;
  heldOut: number;
  maxProposals: number;
  parallel: number;
  minibatch: number;
}

/** The mean cost of an example of a run, with its judges, and of a reflection, in US dollars. */
export interface UnitCosts {
  example: number;
  reflection: number;
}

/** The share of proposals that gain on their minibatch, as seen in simulations. */
const CHECKED_SHARE = 0.45;
/** The runs for the verdict can cost this many times as much as the earlier ones. */
const VERDICT_MARGIN = 1.5;
/** Characters of a token; fewer than usual, so that the input is not underestimated. */
const CHARS_PER_TOKEN = 3;
/** Amounts are rounded down to a millionth of a dollar. */
const MICRO = 1_000_000;

const MANY_ROUNDS = 10;
const MANY_HELD_OUT = 100;

const baseCalls = ({ train, check }: SearchPlan) => train + 2 * check;
const verdictCalls = ({ heldOut }: SearchPlan) => 2 * heldOut;

/** The number of executions of the prompt. Reused responses of equal calls count, too. */
export function callsOf(plan: SearchPlan): { expected: number; most: number } {
  const { maxProposals, minibatch, check } = plan;
  const fixed = baseCalls(plan) + verdictCalls(plan);
  const most = fixed + maxProposals * (2 * minibatch + check);
  return { expected: Math.round(fixed + maxProposals * (2 * minibatch + CHECKED_SHARE * check)), most };
}

export function costOf(plan: SearchPlan, costs: UnitCosts): { expected: number; most: number } {
  const { expected, most } = callsOf(plan);
  const reflections = plan.maxProposals * costs.reflection;
  // A rejected answer is requested once more.
  return { expected: expected * costs.example + reflections, most: most * costs.example + 2 * reflections };
}

/** The amount set aside for the verdict before anything else is spent. @param dearest the highest mean cost of an example so far */
export const verdictReserve = (heldOut: number, dearest: number): number => 2 * heldOut * VERDICT_MARGIN * dearest;

/** The maximum cost of a proposal. */
export const proposalCost = ({ minibatch, check }: SearchPlan, costs: UnitCosts): number =>
  (2 * minibatch + check) * costs.example + 2 * costs.reflection;

/** The lowest `max_cost` that pays for the base, a round and the verdict. */
export function leastCost(plan: SearchPlan, costs: UnitCosts): number {
  const round = Math.min(plan.parallel, plan.maxProposals) * proposalCost(plan, costs);
  return baseCalls(plan) * costs.example + round + verdictReserve(plan.heldOut, costs.example);
}

/**
 * What each proposal of the next round can spend, so that all of them together leave the verdict its share.
 *
 * @param proposals the number of proposals in the round
 * @returns undefined if that is less than a proposal needs on its minibatch
 */
export function proposalShare(
  {
    maxCost,
    spent,
    reserved,
    proposals,
  }: { maxCost: number | null; spent: number; reserved: number; proposals: number },
  { minibatch }: SearchPlan,
  costs: UnitCosts,
): number | null | undefined {
  if (maxCost === null) return null;
  const share = Math.floor(((maxCost - spent - reserved) / proposals) * MICRO) / MICRO;
  return share < 2 * minibatch * costs.example + costs.reflection ? undefined : share;
}

/** The amount set aside for a reflection before it is sent. @param prices US dollars per token */
export const reflectionReserve = (
  inputChars: number,
  maxTokens: number,
  prices: { input: number; output: number },
): number => (inputChars / CHARS_PER_TOKEN) * prices.input + maxTokens * prices.output;

/** What to know before starting. */
export function warningsOf(plan: SearchPlan): string[] {
  const rounds = Math.ceil(plan.maxProposals / plan.parallel);
  return [
    ...(plan.heldOut < MANY_HELD_OUT
      ? [
          `Only ${plan.heldOut} examples are held out. With fewer than ${MANY_HELD_OUT}, an improvement of 10 points is usually not proved.`,
        ]
      : []),
    ...(rounds < MANY_ROUNDS
      ? [
          `There are only ${rounds} rounds. A search learns from round to round: lower \`parallel\` or raise \`max_proposals\`.`,
        ]
      : []),
  ];
}
