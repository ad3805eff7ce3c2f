import { BUCKETS, bucketOf } from '../releases/rollout.ts';

/** The key of a score's metadata: the public id of what its subject was compared with. */
export const COMPARED_WITH = 'compared_with';

/** The later of two executions or evaluations, which is the subject, and the earlier one. Ids start with the time of creation. */
export function laterFirst(ids: readonly string[]): [later: string, earlier: string] {
  const [later = '', earlier = ''] = ids.toSorted().reverse();
  return [later, earlier];
}

/** What a reviewer can say of the two outputs of a pair. */
export const PAIR_ANSWERS = ['first', 'second', 'tie'] as const;
export type PairAnswer = (typeof PAIR_ANSWERS)[number];

/** Whether the subject of a pair is the first of the two outputs: drawn for each item and reviewer, who gets the same order again. */
export const isSubjectFirst = (itemId: string, reviewer: string): boolean => bucketOf(itemId, reviewer) < BUCKETS / 2;

/** The score of the subject: 1 if it is better, 0 if the other output is, 0.5 for a tie. */
export const pairScore = (answer: PairAnswer, isFirst: boolean): number =>
  answer === 'tie' ? 0.5 : Number((answer === 'first') === isFirst);
