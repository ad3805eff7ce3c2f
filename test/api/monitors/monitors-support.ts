import { checkMonitors } from '../../../src/jobs/check-monitors.ts';
import type { Foundation } from '../../../src/foundation.ts';
import type { Call } from '../../support/service.ts';

/** Creates a monitor or replaces it. @returns its record */
export async function putMonitor(call: Call, name: string, body: object) {
  const answer = await call('PUT', `/monitors/${name}`, { body });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A minute passes for all monitors: those of every workspace are due, and what is measured is as long ago as it was. */
export async function makeDue({ db }: Pick<Foundation, 'db'>): Promise<void> {
  await db.system.query({ text: 'update monitored_workspaces set check_at = now()' });
  await db.system.query({ text: `update monitors set last_checked_at = last_checked_at - interval '1 minute'` });
}

/** The next look of all monitors. */
export async function lookNow(foundation: Pick<Foundation, 'db' | 'log'>): Promise<void> {
  await makeDue(foundation);
  await checkMonitors(foundation.db, foundation.log);
}
