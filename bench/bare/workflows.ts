import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { BareActivities } from './activities.ts';

const { call, record } = proxyActivities<BareActivities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
});

/** The usual code for "call a model durably, then record the response": two activities. */
export async function bare(input: string): Promise<string> {
  const output = await call(input);
  await record(output);
  return output;
}

const local = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '1 day' });

/** The minimum for a durable model call: one local activity. */
export async function bareLocal(input: string): Promise<string> {
  return local.call(input);
}

const { post } = proxyActivities<{ post(id: string): Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** The usual code for "deliver durably": one activity with Temporal's retries. */
export async function bareDelivery(id: string): Promise<void> {
  await post(id);
}
