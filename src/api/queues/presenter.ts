import type { z } from 'zod';
import { publicId, traceIdOf } from '../../domain/ids.ts';
import { isSubjectFirst } from '../../domain/queues/pair.ts';
import { MAX_QUEUE_ITEMS } from '../../domain/queues/queue.ts';
import type { ItemRow } from '../../services/queues/items.ts';
import type { QueueRow } from '../../services/queues/queues.ts';
import type { ScoreAgreement } from '../../services/queues/reviewer-agreement.ts';
import { presentExecutionFilter } from '../executions/filter-schema.ts';
import { presentTraceFilter } from '../traces/filter-schema.ts';
import type { Queue, QueueAgreement, QueueItem } from './schema.ts';

export function presentQueue(row: QueueRow): z.input<typeof Queue> {
  const items = Object.values(row.progress).reduce((sum, count) => sum + count, 0);
  return {
    name: row.name,
    description: row.description,
    score_names: row.score_names,
    filter: row.filter === null ? null : presentExecutionFilter(row.filter),
    trace_filter: row.trace_filter === null ? null : presentTraceFilter(row.trace_filter),
    sample_rate: row.sample_rate,
    reviewers_per_item: row.reviewers_per_item,
    progress: row.progress,
    full: items >= MAX_QUEUE_ITEMS,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/**
 * Presents the subject of an item by the ids that callers use, and what it is compared with.
 * @param reviewer gets the outputs of a pair in the order drawn for them
 */
function presentSubjects(
  row: ItemRow,
  reviewer: string | undefined,
): Pick<z.input<typeof QueueItem>, 'subject' | 'other'> {
  const subject = presentSubject(row);
  const { other_execution_id: execution, other_evaluation_id: evaluation } = row;
  if (execution === null && evaluation === null) return { subject };
  const other = presentSubject({ ...row, execution_id: execution, evaluation_id: evaluation });
  const isFirst = reviewer === undefined || isSubjectFirst(row.id, reviewer);
  return isFirst ? { subject, other } : { subject: other, other: subject };
}

function presentSubject({
  execution_id: executionId,
  evaluation_id: evaluationId,
  example_id: exampleId,
  trace_id: traceId,
  span_id: spanId,
}: ItemRow): z.input<typeof QueueItem>['subject'] {
  if (traceId !== null) return { trace_id: traceIdOf(traceId), ...(spanId !== null && { span_id: spanId }) };
  if (executionId !== null) return { execution_id: publicId('execution', executionId) };
  return { evaluation_id: publicId('evaluation', evaluationId ?? ''), example_id: exampleId ?? '' };
}

/** @param reviewer of a response to a reviewer */
export function presentItem(row: ItemRow, reviewer?: string): z.input<typeof QueueItem> {
  return {
    id: publicId('queueItem', row.id),
    ...presentSubjects(row, reviewer),
    state: row.state,
    completed: row.completed,
    skipped: row.skipped,
    reviews: row.reviews.map((review) => ({
      reviewer: review.reviewer,
      state: review.outcome ?? 'leased',
      leased_until: review.outcome === null ? review.leased_until.toISOString() : null,
      ended_at: review.ended_at?.toISOString() ?? null,
      correction: review.correction,
    })),
    created_at: row.created_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
  };
}

export const presentQueueAgreement = (scores: ScoreAgreement[]): z.input<typeof QueueAgreement> => ({
  scores: scores.map(({ type, ...score }) => ({ ...score, data_type: type })),
});
