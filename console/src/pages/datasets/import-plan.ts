import { formatNumber, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import type { Example, ExampleInput } from './examples.ts';
import { withoutPosition } from './examples.ts';

export type Mode = 'replace' | 'add';

/** The next version of a dataset, as planned. */
export interface Plan {
  /** Number of all its examples. */
  total: number;
  added: number;
  changed: number;
  removed: number;
  /** Unchanged examples that the input does not contain. */
  kept: number;
  same: number;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

/** Equal for equal JSON. */
const canonical = (value: unknown) => JSON.stringify(sorted(value));

/**
 * An example with an id has the same key in every version; one without is identified by its content and its index among duplicates.
 */
function byKey<Each extends ExampleInput>(examples: readonly Each[]): Map<string, Each> {
  const found = new Map<string, Each>();
  const times = new Map<string, number>();
  for (const example of examples) {
    const { id, variables, expected } = example;
    const key = id === undefined ? `content ${canonical({ variables, expected })}` : `id ${id}`;
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    found.set(`${before} ${key}`, example);
  }
  return found;
}

/** Plans what happens to the existing examples if others replace them or are added. */
export function planOf(present: readonly Example[], given: readonly ExampleInput[], mode: Mode): Plan {
  const before = byKey(present);
  const plan = { added: 0, changed: 0, same: 0 };
  for (const [key, example] of byKey(given)) {
    const old = before.get(key);
    before.delete(key);
    if (old === undefined) plan.added += 1;
    else plan[canonical(withoutPosition(old)) === canonical(example) ? 'same' : 'changed'] += 1;
  }
  const rest = before.size;
  return mode === 'add'
    ? { ...plan, removed: 0, kept: rest, total: given.length + rest }
    : { ...plan, removed: rest, kept: 0, total: given.length };
}

/** Describes the plan in one or two sentences. */
export function planInWords(plan: Plan, version: number, mode: Mode): string {
  const { added, changed, removed, kept, same } = plan;
  const parts = [
    added > 0 && t(`${formatNumber(added)} added`),
    changed > 0 && t(`${formatNumber(changed)} changed`),
    removed > 0 && t(`${formatNumber(removed)} removed`),
    same + kept > 0 && t(`${formatNumber(same + kept)} unchanged`),
  ].filter((part) => part !== false);
  const before = version - 1;
  const all = plan.total;
  if (mode === 'add' && added + changed === 0) return t(`Version ${before} has all of these examples already.`);
  const changes = parts.join(', ');
  return mode === 'replace'
    ? t(
        `Version ${version} replaces all examples of version ${before} and holds ${plural(all, 'example', 'examples')}: ${changes}.`,
      )
    : t(
        `Version ${version} adds to the examples of version ${before} and holds ${plural(all, 'example', 'examples')}: ${changes}.`,
      );
}
