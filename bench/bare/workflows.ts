import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { BareActivities } from './activities.ts';

const { call, record } = proxyActivities<BareActivities>({
  startToCloseTimeout: '1 day',
  heartbeatTimeout: '10 seconds',
});

/** What one writes by hand for "call a model durably, then record the answer": two activities. */
export async function bare(input: string): Promise<string> {
  const output = await call(input);
  await record(output);
  return output;
}

const local = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '1 day' });

/** The least that calls a model durably: one local activity. */
export async function bareLocal(input: string): Promise<string> {
  return local.call(input);
}

const { post } = proxyActivities<{ post(id: string): Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** What one writes by hand for "deliver durably": one activity, which Temporal tries again. */
export async function bareDelivery(id: string): Promise<void> {
  await post(id);
}
