import { describe, expect, test } from '@jest/globals';
import {
  exampleKey,
  isTrainSide,
  type LedgerEntry,
  SPLIT_PARTS,
  type SplitEntry,
  splitEntry,
  splitExamples,
  splitFault,
} from '../../../src/domain/improvements/split.ts';

const entries = (count: number) =>
  Array.from({ length: count }, (_, seq) => splitEntry(seq, { variables: { question: `What is ${seq}?` } }));
const ledgerOf = (list: SplitEntry[], entry: LedgerEntry) => new Map(list.map(({ key }) => [key, entry]));

describe('the part of an example', () => {
  test('depends only on its variables, in whichever order', () => {
    const a = splitEntry(0, { variables: { a: 1, b: 2 } });
    const b = splitEntry(7, { variables: { b: 2, a: 1 }, metadata: { source: 'x' } });
    expect(b).toEqual({ ...a, seq: 7 });
    expect(exampleKey({ a: 1, b: 2 })).toBe(a.key);
  });

  test('is the same for a group', () => {
    const parts = Array.from({ length: 50 }, (_, n) =>
      splitEntry(n, { variables: { n }, metadata: { user: 'u1' } }, 'user'),
    );
    expect(new Set(parts.map(({ part }) => part)).size).toBe(1);
    expect(new Set(parts.map(({ key }) => key)).size).toBe(50);
    // Without the key, the example is its own group.
    expect(splitEntry(0, { variables: { n: 1 }, metadata: {} }, 'user')).toEqual(
      splitEntry(0, { variables: { n: 1 } }),
    );
  });

  test('is train for generated examples', () => {
    const generated = Array.from({ length: 50 }, (_, n) =>
      splitEntry(n, { variables: { n }, metadata: { generated: true } }),
    );
    expect(generated.every(({ part }) => part === 'train')).toBe(true);
  });
});

test('a quarter is for learning, a quarter for choosing, half is held out', () => {
  const { train, check, held_out: heldOut } = splitExamples(entries(4_000), new Map());
  expect([train.length, check.length, heldOut.length]).toEqual([300, 200, 1_000]);
  const all = entries(1_000).map(({ part }) => part);
  for (const [part, share] of [
    ['train', 0.25],
    ['check', 0.25],
    ['held_out', 0.5],
  ] as const)
    expect(all.filter((each) => each === part).length / 1_000).toBeCloseTo(share, 1);
});

test('the same examples are chosen in whichever order they are read, duplicates once', () => {
  const list = entries(500);
  const split = splitExamples(list, new Map());
  const again = splitExamples([...list.toReversed(), ...list], new Map());
  for (const part of SPLIT_PARTS) expect(again[part].map(({ key }) => key)).toEqual(split[part].map(({ key }) => key));
});

test('a dataset that is too small is refused with its sizes', () => {
  const split = splitExamples(entries(20), new Map());
  expect(splitFault(split)).toMatch(
    /^is too small: .*10 to learn from, 15 to choose by and 30 held out.* Add about \d+ examples$/,
  );
  expect(splitFault({ train: { length: 10 }, check: { length: 11 }, held_out: { length: 30 } })).toContain(
    'Add about 16 ',
  );
  expect(splitFault(splitExamples(entries(200), new Map()))).toBeUndefined();
});

describe('the ledger', () => {
  const first = splitExamples(entries(200), new Map());

  test('counts verdicts on the same examples', () => {
    expect(first.look).toBe(1);
    const second = splitExamples(entries(200), ledgerOf(first.held_out, { seen: false, looks: 1 }));
    expect(second).toMatchObject({ look: 2, fresh: 0 });
    expect(second.held_out).toHaveLength(first.held_out.length);
    expect(splitExamples(entries(200), ledgerOf(first.held_out, { seen: false, looks: 4 })).look).toBe(5);
  });

  test('enough new examples make the next verdict a first one', () => {
    const ledger = ledgerOf(first.held_out, { seen: false, looks: 2 });
    const more = splitExamples(entries(500), ledger);
    expect(more.look).toBe(1);
    expect(more.held_out.every(({ key }) => !ledger.has(key))).toBe(true);
    // Fewer than half of the held-out examples are new: all of them are used, and it counts.
    expect(splitExamples(entries(300), ledger)).toMatchObject({ look: 3 });
  });

  test('what was seen is never held out again', () => {
    const seen = first.held_out.slice(0, 5);
    const split = splitExamples(entries(200), ledgerOf(seen, { seen: true, looks: 0 }));
    expect(split.held_out).toEqual(first.held_out.slice(5));
  });

  test('a corrected expected value does not make an example new', () => {
    expect(exampleKey({ q: 1 })).toBe(splitEntry(0, { variables: { q: 1 }, metadata: { corrected: true } }).key);
  });
});

test('feedback is shown only if its variables are not those of an unseen example', () => {
  const list = Array.from({ length: 200 }, (_, n) => ({ variables: { n }, metadata: { user: `u${n % 20}` } }));
  const split = splitExamples(
    list.map((example, seq) => splitEntry(seq, example, 'user')),
    new Map(),
  );
  for (const part of SPLIT_PARTS)
    for (const { seq } of split[part]) {
      const { variables, metadata } = list[seq] ?? { variables: {}, metadata: {} };
      expect(isTrainSide({ variables, metadata }, split, 'user')).toBe(part === 'train');
      // Feedback on an execution that does not name the group.
      if (part !== 'train') expect(isTrainSide({ variables }, split, 'user')).toBe(false);
    }
});
