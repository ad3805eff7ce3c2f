import { formatNumber, plural } from '../../format.ts';
import { t } from '../../strings.ts';
import type { Example, ExampleInput } from './examples.ts';
import { withoutPlace } from './examples.ts';

export type Mode = 'replace' | 'add';

/** What the next version of a dataset would be. */
export interface Plan {
  /** All of its examples. */
  examples: ExampleInput[];
  added: number;
  changed: number;
  removed: number;
  /** Those that stay, and that what is given says nothing of. */
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

/** Equal for what is the same JSON. */
const canonical = (value: unknown) => JSON.stringify(sorted(value));

/** By its id an example is known in every version; without one, by what it holds. */
const keyOf = ({ id, variables, expected }: ExampleInput) =>
  id === undefined ? `content ${canonical({ variables, expected })}` : `id ${id}`;

/** What becomes of the examples that there are, where others are put in their place or added to them. */
export function planOf(present: readonly Example[], given: readonly ExampleInput[], mode: Mode): Plan {
  const before = new Map(present.map((example) => [keyOf(example), withoutPlace(example)]));
  const rest = new Map(before);
  const result = new Map<string, ExampleInput>(mode === 'add' ? before : []);
  const counts = { added: 0, changed: 0, same: 0 };
  for (const example of given) {
    const key = keyOf(example);
    const old = rest.get(key);
    rest.delete(key);
    // One that is there twice is the API's to judge, where all are replaced.
    result.set(mode === 'replace' && result.has(key) ? `${key} again ${result.size}` : key, example);
    if (old === undefined) counts.added += 1;
    else counts[canonical(old) === canonical(example) ? 'same' : 'changed'] += 1;
  }
  return {
    ...counts,
    examples: [...result.values()],
    removed: mode === 'replace' ? rest.size : 0,
    kept: mode === 'add' ? rest.size : 0,
  };
}

/** What is about to happen, in a sentence or two. */
export function planInWords(plan: Plan, version: number, mode: Mode): string {
  const { added, changed, removed, kept, same } = plan;
  const parts = [
    added > 0 && t(`${formatNumber(added)} added`),
    changed > 0 && t(`${formatNumber(changed)} changed`),
    removed > 0 && t(`${formatNumber(removed)} removed`),
    same + kept > 0 && t(`${formatNumber(same + kept)} unchanged`),
  ].filter((part) => part !== false);
  const before = version - 1;
  const all = plan.examples.length;
  const changes = parts.join(', ');
  return mode === 'replace'
    ? t(
        `Version ${version} replaces all examples of version ${before} and holds ${plural(all, 'example', 'examples')}: ${changes}.`,
      )
    : t(
        `Version ${version} adds to the examples of version ${before} and holds ${plural(all, 'example', 'examples')}: ${changes}.`,
      );
}
