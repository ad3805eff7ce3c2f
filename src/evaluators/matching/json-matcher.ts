import type { JsonValue } from '../../domain/text/json.ts';
import { createJsonIdentifier } from './json.ts';

/**
 * Values visited while searching for the best partners of list items; after that, the remaining items are paired in order. A
 * count rather than a time, so that the same values always get the same score.
 */
const PAIRING_BUDGET = 200_000;

export interface JsonMatchOptions {
  /** `exact`: nothing may be missing or extra. `subset`: the actual value can have more keys and list items. */
  mode: 'exact' | 'subset';
  ignoreArrayOrder: boolean;
}

/** How much of the expected value was found. A leaf is a scalar, or an empty list or object. */
export interface JsonMatch {
  matched: number;
  /** At least 1. In mode `exact`, extra leaves count too. */
  total: number;
  /** Paths of the first differences, such as `$.items[2].name`. */
  differences: string[];
}

type Count = Pick<JsonMatch, 'matched' | 'total'>;
type JsonObject = { [key: string]: JsonValue };

/** Compares two JSON values leaf by leaf. The depth of both must be bounded. */
export function matchJson(expected: JsonValue, actual: JsonValue, options: JsonMatchOptions): JsonMatch {
  const identify = createJsonIdentifier(options.ignoreArrayOrder);
  const exact = options.mode === 'exact';
  const differences: string[] = [];
  const leavesOf = new Map<JsonValue, number>();
  let budget = PAIRING_BUDGET;

  /** @param path null while trying a partner: differences are then not recorded */
  function compare(wanted: JsonValue, found: JsonValue, path: string | null): Count {
    budget -= 1;
    const same = identify(wanted) === identify(found);
    if (same) return { matched: countLeaves(wanted), total: countLeaves(wanted) };
    if (Array.isArray(wanted) && Array.isArray(found)) return compareArrays(wanted, found, path);
    if (isObject(wanted) && isObject(found)) return compareObjects(wanted, found, path);
    return differ(wanted, found, path);
  }

  function differ(wanted: JsonValue | undefined, found: JsonValue | undefined, path: string | null): Count {
    budget -= 1;
    if (path !== null && differences.length < 3) differences.push(path);
    const leavesFound = exact && found !== undefined ? countLeaves(found) : 0;
    const leavesWanted = wanted === undefined ? 0 : countLeaves(wanted);
    return { matched: 0, total: Math.max(leavesWanted, leavesFound) };
  }

  function compareObjects(wanted: JsonObject, found: JsonObject, path: string | null): Count {
    const keys = Object.keys(wanted);
    const parts = keys.map((key) => {
      const place = path && `${path}.${key}`;
      const counterpart = own(found, key);
      return counterpart === undefined
        ? differ(own(wanted, key), undefined, place)
        : compare(own(wanted, key) ?? null, counterpart, place);
    });
    if (exact) {
      for (const key of Object.keys(found)) {
        if (!Object.hasOwn(wanted, key)) parts.push(differ(undefined, own(found, key), path && `${path}.${key}`));
      }
    }
    return parts.length === 0 ? { matched: 1, total: 1 } : add(parts);
  }

  function compareArrays(wanted: JsonValue[], found: JsonValue[], path: string | null): Count {
    const partners = options.ignoreArrayOrder ? pairUp(wanted, found) : wanted.map((_, index) => index);
    const taken = new Set(partners);
    const parts = wanted.map((item, index) => {
      const place = path && `${path}[${index}]`;
      const partner = found[partners[index] ?? found.length];
      return partner === undefined ? differ(item, undefined, place) : compare(item, partner, place);
    });
    if (exact) {
      found.forEach((item, index) => {
        if (!taken.has(index)) parts.push(differ(undefined, item, path && `${path}[${index}]`));
      });
    }
    return parts.length === 0 ? { matched: 1, total: 1 } : add(parts);
  }

  /** For each wanted item the index of its partner; `found.length` if none is left. */
  function pairUp(wanted: JsonValue[], found: JsonValue[]): number[] {
    const free = new Map<number, number[]>();
    // From the end, so that `pop` takes the first.
    for (let index = found.length - 1; index >= 0; index -= 1) {
      const id = identify(found[index] ?? null);
      const indexes = free.get(id);
      if (indexes === undefined) free.set(id, [index]);
      else indexes.push(index);
    }
    const partners = wanted.map((item) => free.get(identify(item))?.pop());
    const left = [...free.values()].flat().sort((x, y) => x - y);
    const used = new Set<number>();
    let next = 0;
    return partners.map((partner, index) => {
      if (partner !== undefined) return partner;
      while (next < left.length && used.has(left[next] ?? 0)) next += 1;
      const best = bestPartner(wanted[index] ?? null, found, left, used, next);
      used.add(best);
      return best;
    });
  }

  /** Searches the unused indexes in `left`, the first of which is at `next`. */
  function bestPartner(
    item: JsonValue,
    found: JsonValue[],
    left: readonly number[],
    used: ReadonlySet<number>,
    next: number,
  ): number {
    let best = left[next] ?? found.length;
    // Without budget not even the first is tried: nested trials would double the work at every level.
    if (left.length - used.size <= 1) return best;
    let bestShare = -1;
    for (let place = next; place < left.length && budget > 0 && bestShare < 1; place += 1) {
      const candidate = left[place] ?? found.length;
      budget -= 1;
      if (used.has(candidate)) continue;
      const { matched, total } = compare(item, found[candidate] ?? null, null);
      if (matched / total > bestShare) {
        bestShare = matched / total;
        best = candidate;
      }
    }
    return best;
  }

  function countLeaves(value: JsonValue): number {
    if (typeof value !== 'object' || value === null) return 1;
    const known = leavesOf.get(value);
    if (known !== undefined) return known;
    const leaves = Object.values(value).reduce<number>((sum, child) => sum + countLeaves(child), 0) || 1;
    leavesOf.set(value, leaves);
    return leaves;
  }

  const { matched, total } = compare(expected, actual, '$');
  return { matched, total, differences };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Ignores inherited properties: models do write keys such as `constructor` and `__proto__`. */
function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function add(counts: readonly Count[]): Count {
  let matched = 0;
  let total = 0;
  for (const count of counts) {
    matched += count.matched;
    total += count.total;
  }
  return { matched, total };
}
