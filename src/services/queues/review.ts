import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson } from '../../db/statement.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import { publicId, traceIdOf } from '../../domain/ids.ts';
import { COMPARED_WITH, isSubjectFirst, PAIR_ANSWERS, pairScore } from '../../domain/queues/pair.ts';
import type { ReviewCorrection } from '../../domain/queues/queue.ts';
import { reviewScoreId } from '../../domain/queues/review-score-id.ts';
import type { ScoreValue } from '../../domain/scores/score.ts';
import { type ReviewedSubject, type SubjectIds, subjectOf as subjectOfIds } from '../../domain/scores/score-subject.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { recordChange } from '../audit/record-change.ts';
import { correctExample, withdrawCorrection } from '../datasets/correct-example.ts';
import type { HolderId } from '../members/holder.ts';
import { storeScores } from '../scores/store-scores.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { exampleOf } from './corrected-example.ts';
import { getItem, ITEM_SUBJECT, type ItemRow } from './items.ts';
import { leasesOfOthers } from './lease.ts';
import { findQueue, type QueueColumns } from './queues.ts';
import { withdrawScores } from './withdraw-scores.ts';

/** An item of a queue, and the reviewer. */
export interface Reviewing {
  queueName: string;
  /** UUID of the item. */
  itemId: string;
  /** Public id of a key or session. */
  reviewer: HolderId;
}

/** What a reviewer submits about an item. */
export interface Verdict {
  scores: { name: string; value: ScoreValue; comment?: string | undefined }[];
  /** What the output should have been, and the dataset that gets this as an example. */
  correction?: { expected: JsonValue; dataset: string } | undefined;
}

/** An item that is locked until the transaction ends, and the reviewer's review of it. */
interface Held {
  queue: QueueColumns;
  item: Omit<SubjectIds, 'conversation_id'> & {
    id: string;
    other_execution_id: string | null;
    other_evaluation_id: string | null;
    completed: number;
    /** The number of leases held by others. */
    others: number;
  };
  review:
    | {
        outcome: 'completed' | 'skipped' | null;
        score_ids: string[];
        request_hash: Buffer | null;
        correction: ReviewCorrection | null;
      }
    | undefined;
}

/**
 * Locks the execution or trace before the item, in the same order as its deletion, which also deletes the item; otherwise they could deadlock.
 * @throws ApiError `not_found`
 */
async function hold(query: Query, { queueName, itemId, reviewer }: Reviewing): Promise<Held> {
  const queue = await findQueue(query, queueName);
  await query((db) =>
    db
      .selectFrom('executions')
      .select('id')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('queue_items')
          .select((of) =>
            sql<string>`unnest(array[${of.ref('execution_id')}, ${of.ref('other_execution_id')}])`.as('id'),
          )
          .where('queue_id', '=', queue.id)
          .where('id', '=', itemId),
      )
      .orderBy('id')
      .forKeyShare(),
  );
  await query((db) =>
    db
      .selectFrom('traces')
      .select('id')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('queue_items')
          .select((of) => of.ref('trace_id').$notNull().as('id'))
          .where('queue_id', '=', queue.id)
          .where('id', '=', itemId),
      )
      .forKeyShare(),
  );
  const [locked] = await query((db) =>
    db.selectFrom('queue_items').select('id').where('queue_id', '=', queue.id).where('id', '=', itemId).forUpdate(),
  );
  if (locked === undefined) throw notFound(`This item of the queue "${queueName}"`);
  // Read after it is locked, so that earlier changes by others are visible.
  const [item] = await query((db) =>
    db
      .selectFrom('queue_items as i')
      .select(['i.id', ...ITEM_SUBJECT.map((column) => `i.${column}` as const), 'i.completed'])
      .select((eb) => eb.fn.coalesce(leasesOfOthers(eb, reviewer), sql.lit(0)).as('others'))
      .where('i.id', '=', itemId),
  );
  if (item === undefined) throw notFound(`This item of the queue "${queueName}"`);
  const [review] = await query((db) =>
    db
      .selectFrom('queue_reviews')
      .select(['outcome', 'score_ids', 'request_hash', 'correction'])
      .where('item_id', '=', itemId)
      .where('reviewer', '=', reviewer),
  );
  return { queue, item, review };
}

function subjectOf(item: Held['item']): ReviewedSubject {
  const subject = subjectOfIds({ ...item, conversation_id: null });
  if ('conversationId' in subject) throw new Error('A conversation is not an item.');
  return subject;
}

/** The key of the example that a correction creates, like that of examples created from executions or traces. */
function keyOf(item: Held['item']): string {
  const subject = subjectOf(item);
  if ('executionId' in subject) return publicId('execution', subject.executionId);
  if ('exampleId' in subject) return subject.exampleId;
  const trace = traceIdOf(subject.traceId);
  return subject.spanId === null ? trace : `${trace}:${subject.spanId}`;
}

/**
 * Stores a reviewer's verdict on an item: scores with the source `person`, and a correction as an example of a dataset, all in
 * one transaction. Repeating it has no effect; a different verdict replaces the reviewer's earlier one.
 * @throws ApiError `not_found`; `invalid_request` naming the invalid score; `invalid_state` if enough reviewers have completed or
 * hold it; `quota_exceeded`
 */
export async function completeItem(
  db: WorkspaceDatabase,
  quotas: Quotas,
  reviewing: Reviewing,
  verdict: Verdict,
): Promise<ItemRow> {
  return db.transaction(async (query) => {
    const held = await hold(query, reviewing);
    const { queue, item, review } = held;
    for (const [index, { name }] of verdict.scores.entries())
      if (!queue.score_names.includes(name))
        throw invalidField(`scores.${index}.name`, `must be a score of this queue: ${queue.score_names.join(', ')}`);
    const requestHash = hash('sha256', JSON.stringify(verdict), 'buffer');
    const isAgain = review?.outcome === 'completed';
    if (isAgain && review.request_hash?.equals(requestHash)) return getItem(query, queue, item.id, reviewing.reviewer);
    if (!isAgain) requirePlace(held);
    const scores = verdict.scores.map(({ name, comment, value }, index) => ({
      comment,
      ...answerOf(item, reviewing.reviewer, value, index),
      id: reviewScoreId(item.id, reviewing.reviewer, name),
      name,
      subject: subjectOf(item),
      source: 'person' as const,
      author: reviewing.reviewer,
    }));
    const kept = scores.map(({ id }) => id);
    await withdrawScores(query, review?.score_ids.filter((id) => !kept.includes(id)) ?? []);
    await storeScores(query, scores);
    const correction = await correct(query, quotas, held, verdict.correction);
    await endReview(query, reviewing, held, { outcome: 'completed', scoreIds: kept, requestHash, correction });
    await count(query, held, { completed: isAgain ? 0 : 1, skipped: review?.outcome === 'skipped' ? -1 : 0 });
    await recordChange(query, 'queue.item_completed', queue.name, {
      item: publicId('queueItem', item.id),
      scores: scores.length,
      correction: correction !== null,
    });
    return getItem(query, queue, item.id, reviewing.reviewer);
  });
}

/** The public id of what the subject of a pair is compared with; undefined for other items. */
function comparedWith({ other_execution_id: execution, other_evaluation_id: evaluation }: Held['item']) {
  if (execution !== null) return publicId('execution', execution);
  return evaluation === null ? undefined : publicId('evaluation', evaluation);
}

/** What to store of an answer: of a pair, the score of its subject, with the order in which the reviewer saw the outputs. */
function answerOf(item: Held['item'], reviewer: HolderId, value: ScoreValue, index: number) {
  const other = comparedWith(item);
  if (other === undefined) return { value };
  const answer = PAIR_ANSWERS.find((each) => each === value);
  if (answer === undefined)
    throw invalidField(`scores.${index}.value`, 'must be "first", "second" or "tie": this item is a pair');
  const isFirst = isSubjectFirst(item.id, reviewer);
  return {
    value: pairScore(answer, isFirst),
    metadata: { [COMPARED_WITH]: other, shown: isFirst ? 'first' : 'second' },
  };
}

function requirePlace({ queue: { reviewers_per_item: wanted }, item: { completed, others } }: Held): void {
  if (completed >= wanted)
    throw new ApiError('invalid_state', 'This item is completed: enough reviewers have scored it.');
  if (completed + others >= wanted)
    throw new ApiError(
      'invalid_state',
      'Another reviewer holds this item: get another one with POST /v1/queues/{name}/next.',
    );
}

/** Replaces an earlier correction of the reviewer, or reverts it. */
async function correct(
  query: Query,
  quotas: Quotas,
  { queue, item, review }: Held,
  given: Verdict['correction'],
): Promise<ReviewCorrection | null> {
  const before = review?.correction ?? null;
  if (before !== null && before.dataset !== given?.dataset)
    await withdrawCorrection(query, quotas, before.dataset, keyOf(item), before.version);
  if (given === undefined) return null;
  const { variables, metadata } = await exampleOf(query, subjectOf(item));
  const example = {
    key: keyOf(item),
    variables,
    expected: given.expected,
    metadata: { ...metadata, queue: queue.name },
  };
  return { dataset: given.dataset, version: await correctExample(query, quotas, given.dataset, example) };
}

interface Ended {
  outcome: 'completed' | 'skipped';
  scoreIds: string[];
  requestHash: Buffer | null;
  correction: ReviewCorrection | null;
}

async function endReview(
  query: Query,
  { reviewer }: Reviewing,
  { queue, item }: Held,
  { outcome, scoreIds, requestHash, correction }: Ended,
): Promise<void> {
  const columns = {
    outcome,
    ended_at: now,
    score_ids: sql<string[]>`${scoreIds}::uuid[]`,
    request_hash: requestHash,
    correction: correction === null ? null : asJson(correction),
  };
  await query((db) =>
    db
      .insertInto('queue_reviews')
      .values({ item_id: item.id, queue_id: queue.id, reviewer, leased_until: now, ...columns })
      .onConflict((conflict) =>
        conflict.columns(['item_id', 'reviewer']).doUpdateSet({ leased_until: now, ...columns }),
      ),
  );
}

/** Updates the counts of an item; it is completed when enough reviewers have completed it. */
async function count(
  query: Query,
  { queue: { reviewers_per_item: wanted }, item }: Held,
  { completed, skipped }: { completed: number; skipped: number },
): Promise<void> {
  await query((db) =>
    db
      .updateTable('queue_items')
      .set((eb) => ({
        completed: eb('completed', '+', completed),
        skipped: eb('skipped', '+', skipped),
        completed_at: sql<Date | null>`case when completed + ${completed}::int >= ${wanted}::int then coalesce(completed_at, now()) end`,
      }))
      .where('id', '=', item.id),
  );
}

/**
 * Leaves an item to others: the reviewer does not get it again. Repeating it has no effect.
 * @throws ApiError `not_found`; `invalid_state` if the reviewer, or enough others, have completed it
 */
export async function skipItem(db: WorkspaceDatabase, reviewing: Reviewing): Promise<ItemRow> {
  return db.transaction(async (query) => {
    const held = await hold(query, reviewing);
    const { queue, item, review } = held;
    if (review?.outcome === 'completed')
      throw new ApiError('invalid_state', 'You have completed this item: return it first with …/back.');
    if (review?.outcome !== 'skipped') {
      if (item.completed >= queue.reviewers_per_item) requirePlace(held);
      await endReview(query, reviewing, held, {
        outcome: 'skipped',
        scoreIds: [],
        requestHash: null,
        correction: null,
      });
      await count(query, held, { completed: 0, skipped: 1 });
      await recordChange(query, 'queue.item_skipped', queue.name, { item: publicId('queueItem', item.id) });
    }
    return getItem(query, queue, item.id, reviewing.reviewer);
  });
}

/**
 * Reverts what the reviewer has done with an item: ends a lease; undoes a skip; undoes a completion with its scores and, in
 * another version of the dataset, its correction. The item is open again. Has no effect if there is nothing to revert.
 * @throws ApiError `not_found`
 */
export async function returnItem(db: WorkspaceDatabase, quotas: Quotas, reviewing: Reviewing): Promise<ItemRow> {
  return db.transaction(async (query) => {
    const held = await hold(query, reviewing);
    const { queue, item, review } = held;
    if (review !== undefined) {
      await query((own) =>
        own.deleteFrom('queue_reviews').where('item_id', '=', item.id).where('reviewer', '=', reviewing.reviewer),
      );
      await withdrawScores(query, review.score_ids);
      await correct(query, quotas, held, undefined);
      await count(query, held, {
        completed: review.outcome === 'completed' ? -1 : 0,
        skipped: review.outcome === 'skipped' ? -1 : 0,
      });
      await recordChange(query, 'queue.item_returned', queue.name, {
        item: publicId('queueItem', item.id),
        outcome: review.outcome,
      });
    }
    return getItem(query, queue, item.id, reviewing.reviewer);
  });
}
