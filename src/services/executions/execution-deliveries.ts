import { sql } from 'kysely';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { type DeliveryRow, selectDeliveries } from '../webhooks/deliveries/deliveries.ts';
import { getExecution, isFinished } from './executions.ts';

/** The maximum number of deliveries returned for one execution: the newest. */
export const MAX_EXECUTION_DELIVERIES = 100;

/** The maximum clock difference between the process that ended an execution and the database. */
const CLOCK_SLACK_MS = 60_000;

/**
 * The webhook deliveries about the end of an execution, oldest first.
 * @throws ApiError `not_found`
 */
export async function deliveriesOfExecution(db: WorkspaceDatabase, id: string): Promise<DeliveryRow[]> {
  const { status, finished_at: finishedAt } = await getExecution(db, id);
  if (finishedAt === null || !isFinished(status)) return [];
  // No index leads from an execution to its event, but the id of an event starts with the time at which it was written.
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
