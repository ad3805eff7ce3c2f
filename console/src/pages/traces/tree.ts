import type { TraceStep } from '../../api-types.ts';

/** A step with its position in the tree and on the timeline. */
export interface TreeStep {
  step: TraceStep;
  /** From 0. */
  depth: number;
  /** Index in the list of all steps, in which each step comes before its children. */
  index: number;
  parent: number | undefined;
  /** The index after its last descendant. */
  end: number;
  /** Its number among its siblings, from 1, and how many there are. */
  position: number;
  siblings: { count: number };
  /** Whether its parent has not arrived. */
  isOrphan: boolean;
  /** Milliseconds since the start of the trace, as shown. */
  begin: number;
  /** Milliseconds. Undefined if it has not ended. */
  took: number | undefined;
  /** By how many milliseconds it is shown later than its clock says, so that it does not start before its parent. */
  shiftedMs: number;
}

export interface Tree {
  steps: readonly TreeStep[];
  byId: ReadonlyMap<string, TreeStep>;
  /** From the first start to the last end, in milliseconds; at least 1. */
  totalMs: number;
  /** Failed steps, in tree order. */
  errors: readonly TreeStep[];
}

/** Times of the API are rounded to milliseconds. */
const ROUNDING_MS = 1;

/**
 * Computes the tree and the timeline.
 * @param steps in tree order: each before its children
 */
export function treeOf(steps: readonly TraceStep[]): Tree {
  const known = new Set(steps.map(({ id }) => id));
  const all: TreeStep[] = [];
  const open: TreeStep[] = [];
  const below = new Map<number | undefined, { count: number }>();
  const close = (until: string | null) => {
    for (let last = open.at(-1); last !== undefined && last.step.id !== until; last = open.at(-1)) {
      last.end = all.length;
      open.pop();
    }
  };
  for (const [index, step] of steps.entries()) {
    // A step that is its own ancestor precedes its parent and is at the top.
    close(step.parent_id);
    const parent = open.at(-1);
    const siblings = below.get(parent?.index) ?? { count: 0 };
    siblings.count += 1;
    below.set(parent?.index, siblings);
    const told = Date.parse(step.started_at);
    const moved = told + (parent?.shiftedMs ?? 0);
    const isEarly = parent !== undefined && moved < parent.begin - ROUNDING_MS;
    const begin = isEarly ? parent.begin : moved;
    const placed: TreeStep = {
      step,
      depth: open.length,
      index,
      parent: parent?.index,
      end: steps.length,
      position: siblings.count,
      siblings,
      isOrphan: step.parent_id !== null && !known.has(step.parent_id),
      begin,
      took: step.duration_ms ?? undefined,
      shiftedMs: begin - told,
    };
    all.push(placed);
    open.push(placed);
  }
  // The step that seemed to be first may have been shifted.
  const first = all.reduce((least, { begin }) => Math.min(least, begin), Number.POSITIVE_INFINITY);
  for (const each of all) each.begin -= first;
  return {
    steps: all,
    byId: new Map(all.map((each) => [each.step.id, each])),
    totalMs: all.reduce((most, { begin, took = 0 }) => Math.max(most, begin + took), 1),
    errors: all.filter(({ step }) => step.status === 'error'),
  };
}

export const hasSteps = ({ index, end }: TreeStep) => end > index + 1;

/** The steps without closed ancestors. @param closed ids */
export function shownSteps({ steps }: Tree, closed: ReadonlySet<string>): TreeStep[] {
  const shown: TreeStep[] = [];
  for (let index = 0; index < steps.length; ) {
    const each = steps[index];
    if (each === undefined) break;
    shown.push(each);
    index = closed.has(each.step.id) ? each.end : index + 1;
  }
  return shown;
}

/** The origin of an error: the first failed step without failed descendants. */
export const firstCause = ({ errors }: Tree) =>
  errors.find(({ end }, index) => {
    const next = errors[index + 1];
    return next === undefined || next.index >= end;
  });
