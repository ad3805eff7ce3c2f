import { ScheduleNotFoundError } from '@temporalio/client';
import { evaluationScheduleId } from '../../temporal/names.ts';
import { isEncryptedAsNow } from '../../temporal/payload-codec.ts';
import { TEMPORAL_DEADLINE_MS, type WorkflowStarter } from '../../temporal/workflows.ts';

export type Temporal = Pick<WorkflowStarter, 'client' | 'taskQueues'>;

/** A schedule as stored in Temporal; undefined if Temporal does not have it. */
export async function readInTemporal(
  { client }: Pick<Temporal, 'client'>,
  id: string,
): Promise<{ paused: boolean; nextTimes: Date[]; isEncryptedAsNow: boolean } | undefined> {
  try {
    const { info, state, raw } = await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.schedule.getHandle(evaluationScheduleId(id)).describe(),
    );
    const [input = {}] = raw.schedule?.action?.startWorkflow?.input?.payloads ?? [];
    return {
      paused: state.paused,
      nextTimes: info.nextActionTimes,
      isEncryptedAsNow: isEncryptedAsNow(client, input),
    };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

/** When a schedule is due next, according to Temporal: empty while it is paused; undefined if Temporal does not have it. */
export async function dueTimes(temporal: Pick<Temporal, 'client'>, id: string): Promise<Date[] | undefined> {
  const found = await readInTemporal(temporal, id);
  return found?.paused ? [] : found?.nextTimes.slice(0, 5);
}

/** @throws ScheduleNotFoundError if Temporal does not have it */
export async function actInTemporal(
  { client }: Pick<Temporal, 'client'>,
  id: string,
  action: 'pause' | 'unpause' | 'trigger' | 'delete',
): Promise<void> {
  await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, async () => {
    await client.schedule.getHandle(evaluationScheduleId(id))[action]();
  });
}

/** Deletes a schedule in Temporal; a missing one is not an error. */
export async function deleteInTemporal(temporal: Pick<Temporal, 'client'>, id: string): Promise<void> {
  try {
    await actInTemporal(temporal, id, 'delete');
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
