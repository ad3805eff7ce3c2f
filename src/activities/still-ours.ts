import type { Context } from '@temporalio/activity';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
} from '@temporalio/client';

/**
 * Asks Temporal whether this attempt of an activity counts. While a process stands still, tasks are handed to the requests
 * it has open; when it goes on, it finds attempts that have timed out and that another worker has taken over.
 * @throws ActivityCompletionError where Temporal can't be asked
 */
export async function isAttemptCurrent({ client, info }: Context): Promise<boolean> {
  try {
    await client.activity.heartbeat(info.taskToken, info.heartbeatDetails);
    return true;
  } catch (error) {
    if (error instanceof ActivityNotFoundError) return false;
    // Cancellations and the like reach the activity by its own heartbeats.
    for (const told of [ActivityCancelledError, ActivityPausedError, ActivityResetError])
      if (error instanceof told) return true;
    throw error;
  }
}
