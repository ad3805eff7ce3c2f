import { sql } from 'kysely';
import { bindWorkspace } from '../db/database.ts';
import { createInTemporal, encryptInTemporal } from '../services/schedules/create-in-temporal.ts';
import { withdrawSchedule } from '../services/schedules/create-schedule.ts';
import type { ScheduledRequest } from '../services/schedules/schedules.ts';
import { actInTemporal, readInTemporal } from '../services/schedules/temporal-schedule.ts';
import { type ReconcileDeps, reconcile } from './reconcile.ts';

/**
 * Recreates schedules that Temporal has lost, without making up for missed times. Pauses or resumes schedules whose state in
 * Temporal differs, and re-encrypts those that are not encrypted with the current key. A schedule that was never accepted,
 * because the process died while creating it, is withdrawn.
 * @throws Error if Temporal or the database is down; the next call continues
 */
export function reconcileSchedules(deps: ReconcileDeps): Promise<void> {
  const { db, starter: temporal, log } = deps;
  return reconcile(deps, {
    table: 'schedules',
    // A row does not show whether Temporal still has it, so all are checked.
    due: sql<boolean>`true`,
    nextCheck: sql<Date>`now() + interval '5 minutes'`,
    read: (all) =>
      all
        .selectFrom('schedules')
        .innerJoin('taken', 'taken.id', 'schedules.id')
        .select(['workspace_id', 'accepted_at', 'schedules.id', 'name', 'cron', 'time_zone', 'paused', 'request'])
        .$narrowType<{ request: ScheduledRequest }>(),
    async reconcile(schedule) {
      if (schedule.accepted_at === null) {
        await withdrawSchedule(bindWorkspace(db.system.query, schedule.workspace_id), schedule.id, false);
        log.warn({ schedule_id: schedule.id }, 'withdrew a schedule whose creation was never confirmed to its caller');
        return;
      }
      const found = await readInTemporal(temporal, schedule.id);
      if (found === undefined) {
        await createInTemporal(temporal, schedule.workspace_id, schedule);
        log.warn({ schedule_id: schedule.id }, 'recreated a schedule that Temporal had lost');
        return;
      }
      if (!found.isEncryptedAsNow) {
        await encryptInTemporal(temporal, schedule.workspace_id, schedule);
        log.info({ schedule_id: schedule.id }, 're-encrypted a schedule with the current TEMPORAL_PAYLOAD_KEYS');
      }
      if (found.paused !== schedule.paused) {
        await actInTemporal(temporal, schedule.id, schedule.paused ? 'pause' : 'unpause');
        log.warn(
          { schedule_id: schedule.id, paused: schedule.paused },
          'corrected in Temporal whether a schedule is paused',
        );
      }
    },
  });
}
