/** The fields of a step that determine its position in the tree. */
export interface TreeStep {
  id: string;
  parentId: string | null;
  startedAt: number;
}

const byStart = (a: TreeStep, b: TreeStep) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1);

/**
 * Ids of steps in tree order: each step before those below it, and siblings by start. Steps whose parent is missing are at the top; so is, at
 * the end, the first of several steps that are their own ancestors.
 */
export function treeOrder(steps: readonly TreeStep[]): string[] {
  const known = new Set(steps.map(({ id }) => id));
  const children = Map.groupBy([...steps].sort(byStart), ({ parentId }) =>
    parentId !== null && known.has(parentId) ? parentId : '',
  );
  const order: string[] = [];
  const seen = new Set<string>();
  function walk(tops: readonly TreeStep[]): void {
    const open = [...tops].reverse();
    for (let step = open.pop(); step !== undefined; step = open.pop()) {
      if (seen.has(step.id)) continue;
      seen.add(step.id);
      order.push(step.id);
      open.push(...(children.get(step.id) ?? []).toReversed());
    }
  }
  walk(children.get('') ?? []);
  if (seen.size < steps.length) for (const step of [...steps].sort(byStart)) walk([step]);
  return order;
}
