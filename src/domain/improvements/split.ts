import { createHash, hash } from 'node:crypto';
import type { Example } from '../evaluations/example.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import type { JsonValue } from '../text/json.ts';

/** What an example is used for: to write candidates, to choose among them, or to test the one that was chosen. */
export const SPLIT_PARTS = ['train', 'check', 'held_out'] as const;
export type SplitPart = (typeof SPLIT_PARTS)[number];

const BUCKETS = 10_000;
const TRAIN_BELOW = 2_500;
const CHECK_BELOW = 5_000;

/** The minimum and maximum number of examples of each part, and its share of all examples. */
export const PART_LIMITS: Readonly<Record<SplitPart, { min: number; max: number; share: number }>> = {
  train: { min: 10, max: 300, share: 0.25 },
  check: { min: 15, max: 200, share: 0.25 },
  held_out: { min: 30, max: 1_000, share: 0.5 },
};

/** An example as the split sees it. */
export interface SplitEntry {
  /** Its position in the dataset. */
  seq: number;
  /** SHA-256 of its variables: examples that differ only in what is expected count as the same one. */
  key: string;
  part: SplitPart;
  /** Orders the examples of a part. */
  order: number;
}

/** What a prompt's earlier improvements did with an example. */
export interface LedgerEntry {
  /** Whether it was used to write or choose candidates. */
  seen: boolean;
  /** The number of verdicts that it was part of. */
  looks: number;
}

export interface Split extends Record<SplitPart, SplitEntry[]> {
  /** The held-out examples without an earlier verdict, chosen or not. */
  fresh: number;
  /** Counted from 1: the number of verdicts on the chosen held-out examples, including the next one. */
  look: number;
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : canonicalJson(value));

/** The key of an example in the ledger. */
export const exampleKey = (variables: Example['variables']): string => hash('sha256', canonicalJson(variables));

export const keysOf = (examples: readonly Pick<Example, 'variables'>[]): string[] =>
  examples.map(({ variables }) => exampleKey(variables));

/**
 * The part of an example depends only on its content, so that it never changes sides between runs, versions or datasets.
 *
 * @param groupBy a metadata key: examples with the same value are in the same part
 */
export function splitEntry(
  seq: number,
  { variables, metadata }: Pick<Example, 'variables' | 'metadata'>,
  groupBy?: string,
): SplitEntry {
  const group = groupBy === undefined ? undefined : metadata?.[groupBy];
  const text = group === undefined || group === null ? canonicalJson(variables) : textOf(group);
  const order = createHash('sha256').update(`split:${text}`).digest().readUInt32BE();
  const bucket = order % BUCKETS;
  // Generated examples may resemble each other and lack what is hard about real ones: nothing is proved with them.
  const isTrain = bucket < TRAIN_BELOW || metadata?.['generated'] === true;
  const part = isTrain ? 'train' : bucket < CHECK_BELOW ? 'check' : 'held_out';
  return { seq, key: exampleKey(variables), part, order };
}

/**
 * Chooses the examples of each part. If at least 30 and half of the held-out examples have had no verdict yet, only these are used.
 *
 * @param entries duplicates count once
 * @param ledger by key
 */
export function splitExamples(entries: Iterable<SplitEntry>, ledger: ReadonlyMap<string, LedgerEntry>): Split {
  const byKey = new Map<string, SplitEntry>();
  for (const entry of entries) if (!byKey.has(entry.key)) byKey.set(entry.key, entry);
  const looksOf = ({ key }: SplitEntry) => ledger.get(key)?.looks ?? 0;
  const of = (part: SplitPart) =>
    [...byKey.values()]
      .filter((entry) => entry.part === part)
      .sort((a, b) => a.order - b.order || (a.key < b.key ? -1 : 1));
  const take = (part: SplitPart, list: SplitEntry[]) => list.slice(0, PART_LIMITS[part].max);

  // Another `group_by` may have put it into another part before.
  const heldOut = of('held_out').filter(({ key }) => ledger.get(key)?.seen !== true);
  const fresh = heldOut.filter((entry) => looksOf(entry) === 0);
  const isFreshEnough = fresh.length >= PART_LIMITS.held_out.min && fresh.length * 2 >= heldOut.length;
  const chosen = take('held_out', isFreshEnough ? fresh : heldOut.sort((a, b) => looksOf(a) - looksOf(b)));
  return {
    train: take('train', of('train')),
    check: take('check', of('check')),
    held_out: chosen,
    fresh: fresh.length,
    look: 1 + Math.max(0, ...chosen.map(looksOf)),
  };
}

/** Why a dataset is too small, in a sentence that follows "dataset: "; undefined if it is large enough. */
export function splitFault(split: Readonly<Record<SplitPart, { length: number }>>): string | undefined {
  const more = Math.max(
    ...SPLIT_PARTS.map((part) => Math.ceil((PART_LIMITS[part].min - split[part].length) / PART_LIMITS[part].share)),
  );
  if (more <= 0) return undefined;
  const sizes = SPLIT_PARTS.map((part) => split[part].length);
  const least = SPLIT_PARTS.map((part) => PART_LIMITS[part].min);
  const listed = ([train, check, heldOut]: number[]) =>
    `${train} to learn from, ${check} to choose by and ${heldOut} held out`;
  return `is too small: its different examples are split into ${listed(sizes)}, and ${listed(least)} are needed. Add about ${more} examples`;
}

/** Whether feedback on these variables can be shown: they are not those of an example that must stay unseen. */
export function isTrainSide(
  example: Pick<Example, 'variables' | 'metadata'>,
  split: Pick<Split, 'check' | 'held_out'>,
  groupBy?: string,
): boolean {
  const { key, part } = splitEntry(0, example, groupBy);
  return part === 'train' && ![...split.check, ...split.held_out].some((entry) => entry.key === key);
}
