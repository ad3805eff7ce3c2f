import { sql } from 'kysely';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { type DeliveryRow, selectDeliveries } from '../webhooks/deliveries/deliveries.ts';
import { getExecution, isFinished } from './executions.ts';

/** Deliveries of one execution that are given at most: the newest. */
export const MAX_EXECUTION_DELIVERIES = 100;

/** How far the clock of the process that has ended an execution may be off from the database's. */
const CLOCK_SLACK_MS = 60_000;

/**
 * What was sent to webhooks of the end of an execution, oldest first.
 * @throws ApiError `not_found`
 */
export async function deliveriesOfExecution(db: WorkspaceDatabase, id: string): Promise<DeliveryRow[]> {
  const { status, finished_at: finishedAt } = await getExecution(db, id);
  if (finishedAt === null || !isFinished(status)) return [];
  // An event begins with the time at which it was written, and says of which execution it is: no index leads from one to the other.
  const at = (ms: number) => newId(new Date(finishedAt.getTime() + ms));
  const rows = await db.heavy.query((own) =>
    selectDeliveries(own)
      .where('e.id', '>=', at(-CLOCK_SLACK_MS))
      .where('e.id', '<=', at(CLOCK_SLACK_MS))
      .where('e.type', '=', sql<DeliveryRow['event']>`${`execution.${status}`}`)
      .where('e.created_at', '=', finishedAt)
      .where(sql<string>`${sql.ref('e.data')} ->> 'execution_id'`, '=', publicId('execution', id))
      .orderBy('d.id', 'desc')
      .limit(MAX_EXECUTION_DELIVERIES),
  );
  return rows.toReversed();
}
