import { sql } from 'kysely';
import type { Logger } from 'pino';
import { anyOfNext, claim, dueInTurn, mayHaveMore } from '../db/claim.ts';
import type { Database } from '../db/database.ts';
import { prepared } from '../db/statement.ts';
import { type SettleDeps, settleTrace } from '../services/traces/settle-trace.ts';

const DUE = sql<boolean>`settle_at <= now()`;
/** A trace that a process has not settled by then is due again. */
const LEASE = sql<Date>`now() + interval '2 minutes'`;

/** Claims due traces, with workspaces in turn; each is claimed by one process. */
const TAKE = prepared()((db) =>
  dueInTurn(db, 'traces', { due: DUE, orderBy: [sql`settle_at`] })
    .with('free', (cte) =>
      cte
        .selectFrom('traces')
        .select(['workspace_id', 'id'])
        .where((eb) => eb('id', '=', anyOfNext(eb.selectFrom('next').select('next.id'))))
        .where(DUE)
        .$call(claim()),
    )
    .updateTable('traces as t')
    .from('free')
    .set({ settle_at: LEASE })
    .whereRef('t.workspace_id', '=', 'free.workspace_id')
    .whereRef('t.id', '=', 'free.id')
    .returning(['t.workspace_id as workspaceId', 't.id', sql<Date>`t.settle_at`.as('dueAt')]),
);

/**
 * Settles traces that have received no more steps. A trace that fails is logged and due again later. Safe to run in several processes concurrently, and to
 * be stopped at any time.
 * @throws Error if the database is unavailable
 */
export async function settleTraces(deps: SettleDeps, db: Database, log: Logger, stopping?: AbortSignal): Promise<void> {
  for (;;) {
    const due = await db.system.query(TAKE, {});
    for (const { workspaceId, ...trace } of due) {
      if (stopping?.aborted) return;
      await settleTrace(deps, db.workspace(workspaceId), trace).catch((error: unknown) =>
        log.warn({ err: error, trace_id: trace.id }, 'cannot settle a trace; it is tried again'),
      );
    }
    if (!mayHaveMore(due.length, due.length)) return;
  }
}
