import { isRefusedByDatabase } from '../../db/errors.ts';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { GroupedWrites } from '../../lib/grouped-writes.ts';
import type { JudgementToStore, StoredJudgement } from '../../services/evaluations/run/judgements-store.ts';
import { RunFailedError } from './run-failed-error.ts';

/** Stored instead of a paid result that the database rejects. */
export const NOT_STORABLE = { code: 'internal_error', message: 'The outcome of this example could not be stored.' };

/** The database rejects the response of a judge. */
export class NotStorableError extends Error {}

/** No result is added to a statement that has this many characters of responses. */
const MAX_GROUP_LENGTH = 1_000_000;

/** Stores the responses of a batch's judges. */
export interface JudgementStore {
  loadJudgement(seq: number, evaluator: string): Promise<StoredJudgement | undefined>;
  /** @throws NotStorableError if the database rejects the response; its cost is stored anyway */
  storeJudgement(seq: number, evaluator: string, judgement: JudgementToStore): Promise<void>;
  /** The output of another evaluation of the same examples. */
  loadOutput?(otherId: string, seq: number): Promise<string | undefined>;
}

/**
 * Results that arrive while a statement runs are stored together by the next one. Each statement is retried through any outage
 * until `giveUp` aborts, so that nothing paid for is lost.
 * @param sizeOf characters of an item
 */
export const storedInGroups = <Item>(
  store: (items: readonly Item[]) => Promise<void>,
  sizeOf: (item: Item) => number,
  giveUp: AbortSignal,
) =>
  new GroupedWrites<Item>({
    write: (items) => untilDatabaseAnswers(() => store(items), giveUp),
    isRefusal: isRefusedByDatabase,
    sizeOf,
    maxSize: MAX_GROUP_LENGTH,
  });

/** The responses of judges, in groups. */
export const storedJudgements = <Item extends { judgement: JudgementToStore }>(
  store: (items: readonly Item[]) => Promise<void>,
  giveUp: AbortSignal,
) => storedInGroups(store, ({ judgement }: Item) => judgement.response?.length ?? 0, giveUp);

/**
 * Stores a judgement, or only its cost if the database rejects its response.
 * @throws NotStorableError if it was rejected
 */
export async function storeJudgementOr(
  write: (judgement: JudgementToStore) => Promise<void>,
  judgement: JudgementToStore,
): Promise<void> {
  const isStored = await storeOr(
    () => write(judgement),
    () => write({ ...judgement, response: null }),
  );
  if (!isStored) throw new NotStorableError();
}

/**
 * Stores something, or a substitute if the database rejects it. A rejection must not make Temporal repeat the batch: its models
 * would be called and paid for again.
 * @returns whether the original was stored
 * @throws RunFailedError if the substitute is rejected as well
 */
export async function storeOr(store: () => Promise<void>, storeSubstitute: () => Promise<void>): Promise<boolean> {
  try {
    await store();
    return true;
  } catch (error) {
    if (!isRefusedByDatabase(error)) throw error;
  }
  try {
    await storeSubstitute();
    return false;
  } catch (error) {
    if (isRefusedByDatabase(error)) throw new RunFailedError(NOT_STORABLE);
    throw error;
  }
}
