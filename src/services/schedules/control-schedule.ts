import { ScheduleNotFoundError } from '@temporalio/client';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { changeState } from '../../db/state-change.ts';
import { notFound } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { scheduleStates } from '../../domain/schedule-states.ts';
import { recordChange } from '../audit/record-change.ts';
import { createInTemporal } from './create-in-temporal.ts';
import { getSchedule, type ScheduleRow } from './schedules.ts';
import { actInTemporal, deleteInTemporal, type Temporal } from './temporal-schedule.ts';

/** Changes a schedule in Temporal, and recreates it there if Temporal has lost it. */
async function actOn(
  temporal: Temporal,
  workspaceId: string,
  row: ScheduleRow,
  action: 'pause' | 'unpause' | 'trigger',
): Promise<void> {
  try {
    await actInTemporal(temporal, row.id, action);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    await createInTemporal(temporal, workspaceId, row);
    await actInTemporal(temporal, row.id, action);
  }
}

/** @throws ApiError `not_found` */
export async function setSchedulePaused(
  temporal: Temporal,
  db: WorkspaceDatabase,
  id: string,
  paused: boolean,
): Promise<ScheduleRow> {
  const current = await getSchedule(db, id);
  await actOn(temporal, db.workspaceId, current, paused ? 'pause' : 'unpause');
  const { set, where } = changeState(scheduleStates, { to: paused ? 'paused' : 'active' });
  await db.transaction(async (query) => {
    const [changed] = await query((own) =>
      own.updateTable('schedules').set(set).where('id', '=', current.id).where(where).returning('id'),
    );
    if (changed) await recordChange(query, paused ? 'schedule.paused' : 'schedule.resumed', publicId('schedule', id));
  });
  return getSchedule(db, current.id);
}

/** Starts an evaluation now, whether the schedule is paused or not. @throws ApiError `not_found` */
export async function triggerSchedule(temporal: Temporal, db: WorkspaceDatabase, id: string): Promise<ScheduleRow> {
  const row = await getSchedule(db, id);
  await actOn(temporal, db.workspaceId, row, 'trigger');
  // No row changes, so this records the action.
  await recordChange(db.query, 'schedule.triggered', publicId('schedule', id));
  return row;
}

/** Deletes a schedule. The evaluations that it started are kept. @throws ApiError `not_found` */
export async function deleteSchedule(temporal: Temporal, db: WorkspaceDatabase, id: string): Promise<ScheduleRow> {
  const row = await getSchedule(db, id);
  await deleteInTemporal(temporal, row.id);
  await db.transaction(async (query) => {
    const [deleted] = await query((own) => own.deleteFrom('schedules').where('id', '=', row.id).returning('id'));
    // A concurrent request has deleted it.
    if (deleted === undefined) throw notFound('This schedule');
    await recordChange(query, 'schedule.deleted', publicId('schedule', id), { name: row.name });
  });
  return row;
}
