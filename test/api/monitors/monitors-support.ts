import type { Dependencies } from '../../../src/dependencies.ts';
import { checkMonitors } from '../../../src/jobs/check-monitors.ts';
import type { Call } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Creates a monitor or replaces it. @returns its record */
export async function putMonitor(call: Call, name: string, body: object) {
  const answer = await call('PUT', `/monitors/${name}`, { body });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Makes all monitors due, as if a minute had passed; the measured executions keep their age. */
export async function makeDue({ db }: Pick<Dependencies, 'db'>): Promise<void> {
  await db.system.query({ text: `update monitors set last_checked_at = last_checked_at - interval '1 minute'` });
  // Times are rounded to a millisecond, which must not be in the future.
  await db.system.query({ text: `update monitored_workspaces set check_at = now() - interval '1 millisecond'` });
}

/** The next check of all enabled monitors, by this process or, if there are workers, by them. */
export async function checkNow(dependencies: Pick<Dependencies, 'db' | 'log'>): Promise<void> {
  const { db, log } = dependencies;
  await makeDue(dependencies);
  await checkMonitors(db, log);
  await waitFor('a look of every monitor', async () => {
    const left = await db.system.query({
      text: `select 1 from monitors where enabled and (last_checked_at is null or last_checked_at < now() - interval '30 seconds')`,
    });
    return left.length === 0;
  });
}

/** Runs of a prompt that have ended, as they are stored. */
export interface Runs {
  count: number;
  prompt?: string | null;
  label?: string;
  status?: 'completed' | 'failed' | 'canceled';
  secondsAgo?: number;
  latencyMs?: number;
  cost?: number | null;
  finishReason?: string;
  errorCode?: string;
  reused?: boolean;
}

/** Stores runs in a workspace. */
export async function storeRuns({ db }: Pick<Dependencies, 'db'>, workspaceId: string, runs: Runs): Promise<void> {
  const { count, prompt = 'say', status = 'completed', secondsAgo = 30, latencyMs = 100, cost = 0.01 } = runs;
  const error =
    status === 'failed' ? JSON.stringify({ code: runs.errorCode ?? 'model_unavailable', message: '' }) : null;
  await db.system.query(
    {
      text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, label, model, provider, parameters, variables,
               metadata, attempts, finish_reason, cost_amount, error, reused_from, created_at, finished_at)
             select $1, gen_random_uuid(), $3, $4, case when $4::text is not null then 1 end, $5, 'sandbox/echo', 'sandbox', '{}', '{}', '{}', 1, $6, $7, $8,
               case when $9 then gen_random_uuid() end,
               now() - make_interval(secs => $10 + $11 / 1000.0), now() - make_interval(secs => $10)
             from generate_series(1, $2::int)`,
    },
    [
      workspaceId,
      count,
      status,
      prompt,
      runs.label ?? null,
      runs.finishReason ?? (status === 'completed' ? 'stop' : null),
      status === 'completed' ? cost : null,
      error,
      runs.reused ?? false,
      secondsAgo,
      latencyMs,
    ],
  );
}
