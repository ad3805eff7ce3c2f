import type { Context } from '@temporalio/activity';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
} from '@temporalio/client';

/**
 * Asks Temporal whether this attempt of an activity is current. A hung process can still receive tasks over its open requests;
 * when it resumes, those attempts have timed out and another worker has taken over.
 * @throws ActivityCompletionError if Temporal cannot be reached
 */
export async function isAttemptCurrent({ client, info }: Context): Promise<boolean> {
  try {
    await client.activity.heartbeat(info.taskToken, info.heartbeatDetails);
    return true;
  } catch (error) {
    if (error instanceof ActivityNotFoundError) return false;
    // Cancellations and the like reach the activity through its own heartbeats.
    for (const told of [ActivityCancelledError, ActivityPausedError, ActivityResetError])
      if (error instanceof told) return true;
    throw error;
  }
}
