import { Big } from 'big.js';
import type { StepTokens } from './step.ts';

/** The fields of a step that determine its usage. */
export interface UsageStep {
  id: string;
  parentId: string | null;
  tokens: StepTokens | null;
  /** US dollars, as reported by the span. */
  cost: string | null;
}

/** The usage of a step itself. */
export interface OwnUsage {
  /** Null if the span reports no tokens. */
  tokens: StepTokens | null;
  /** US dollars. Null if the span reports no cost. */
  cost: string | null;
  /** Whether steps below it report usage, which was subtracted from the usage of its span. */
  hasBelow: boolean;
}

const KINDS = ['input', 'output', 'cached_input', 'cache_write', 'reasoning'] as const;
const NONE: StepTokens = { input: 0, output: 0, cached_input: 0, cache_write: 0, reasoning: 0 };

const combine = (a: StepTokens, b: StepTokens, of: (x: number, y: number) => number): StepTokens => {
  const result = { ...NONE };
  for (const kind of KINDS) result[kind] = of(a[kind], b[kind]);
  return result;
};

/** Children before their parents, except for steps that are their own ancestors. */
function childrenFirst(steps: ReadonlyMap<string, UsageStep>): UsageStep[] {
  const children = Map.groupBy(steps.values(), ({ parentId }) => parentId);
  const order: UsageStep[] = [];
  const seen = new Set<string>();
  const walk = (top: UsageStep) => {
    if (seen.has(top.id)) return;
    seen.add(top.id);
    order.push(top);
    for (let at = order.length - 1; at < order.length; at += 1)
      for (const child of children.get(order[at]?.id ?? '') ?? [])
        if (!seen.has(child.id)) {
          seen.add(child.id);
          order.push(child);
        }
  };
  for (const step of steps.values()) if (step.parentId === null || !steps.has(step.parentId)) walk(step);
  for (const step of steps.values()) walk(step);
  return order.reverse();
}

/**
 * The own usage of every step of a trace: its usage minus the usage of the steps below it, by kind, never below 0. Instrumentations also put the sum
 * of a run on the steps around its calls. Known limit: the usage of a model step with calls below it is always taken to include theirs.
 */
export function ownUsage(steps: readonly UsageStep[]): Map<string, OwnUsage> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const own = new Map<string, OwnUsage>();
  /** By step: the total usage of the steps below it. */
  const below = new Map<string, { tokens: StepTokens; cost: Big }>();
  for (const { id, parentId, tokens, cost } of childrenFirst(byId)) {
    const inner = below.get(id);
    const used = inner?.tokens ?? NONE;
    const mine = tokens && combine(tokens, used, (all, part) => Math.max(0, all - part));
    const spent = cost === null ? null : new Big(cost).minus(inner?.cost ?? 0);
    const ownCost = spent?.lt(0) ? new Big(0) : spent;
    own.set(id, { tokens: mine, cost: ownCost?.toFixed() ?? null, hasBelow: inner !== undefined });
    if (parentId === null || (inner === undefined && tokens === null && cost === null)) continue;
    const outer = below.get(parentId);
    below.set(parentId, {
      tokens: combine(outer?.tokens ?? NONE, combine(used, mine ?? NONE, sum), sum),
      cost: (outer?.cost ?? new Big(0)).plus(inner?.cost ?? 0).plus(ownCost ?? 0),
    });
  }
  return own;
}

const sum = (a: number, b: number) => a + b;

/** Whether any tokens were used. */
export const isUsed = (tokens: StepTokens | null): boolean => tokens !== null && KINDS.some((kind) => tokens[kind] > 0);

/** Whether both usages are equal. */
export const isSameUsage = (a: StepTokens | null, b: StepTokens | null): boolean =>
  KINDS.every((kind) => (a?.[kind] ?? 0) === (b?.[kind] ?? 0));
