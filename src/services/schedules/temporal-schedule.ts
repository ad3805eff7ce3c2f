import { ScheduleNotFoundError } from '@temporalio/client';
import { evaluationScheduleId } from '../../temporal/names.ts';
import { TEMPORAL_DEADLINE_MS, type WorkflowStarter } from '../../temporal/workflows.ts';

export type Temporal = Pick<WorkflowStarter, 'client' | 'taskQueues'>;

/** When a schedule is due next, as Temporal has it: empty while it is paused; undefined where Temporal has no such schedule. */
export async function dueTimes({ client }: Pick<Temporal, 'client'>, id: string): Promise<Date[] | undefined> {
  try {
    const { info, state } = await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.schedule.getHandle(evaluationScheduleId(id)).describe(),
    );
    return state.paused ? [] : info.nextActionTimes.slice(0, 5);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

/** @throws ScheduleNotFoundError where Temporal has no such schedule */
export async function actInTemporal(
  { client }: Pick<Temporal, 'client'>,
  id: string,
  action: 'pause' | 'unpause' | 'trigger' | 'delete',
): Promise<void> {
  await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, async () => {
    await client.schedule.getHandle(evaluationScheduleId(id))[action]();
  });
}

/** Deletes a schedule in Temporal; one that is not there (any more) is no error. */
export async function deleteInTemporal(temporal: Pick<Temporal, 'client'>, id: string): Promise<void> {
  try {
    await actInTemporal(temporal, id, 'delete');
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
