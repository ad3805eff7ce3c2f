import type { SqlBool } from 'kysely';
import type { Logger } from 'pino';
import { type WorkflowStarter, workflowState } from '../temporal/workflows.ts';

/** A row that has a workflow until it has ended. */
export interface RowWithWorkflow {
  id: string;
  /** Whether it has ended. Default: no. */
  ended?: SqlBool;
  /** Whether its workflow may not know of its last change. Default: no. */
  signal_pending?: boolean;
  /** Whether it has not begun, and no caller was told of it. Default: no. */
  unaccepted?: SqlBool;
}

/** What is done about a row whose workflow is not as it should be. Each is safe to repeat. */
export interface Remedies {
  workflowId: string;
  /** Tells the workflow of a change. */
  tell?: () => Promise<unknown>;
  /** Its workflow has ended like itself: there is nobody left to tell. */
  clearPending?: () => Promise<unknown>;
  /** @returns whether it was withdrawn */
  withdraw?: () => Promise<boolean>;
  /** Starts a workflow that Temporal has lost or never got. @returns false where another process was faster */
  start: () => Promise<boolean>;
  /** Ends the row, whose workflow was ended from outside. */
  end: () => Promise<unknown>;
}

/**
 * Compares a row with its workflow, and makes up for what is missing.
 * @param what of which kind the row is
 */
export async function compareWithWorkflow(
  { client, log }: Pick<WorkflowStarter, 'client'> & { log: Logger },
  what: 'execution' | 'evaluation' | 'release',
  { id, ended = false, signal_pending: signalPending = false, unaccepted = false }: RowWithWorkflow,
  { workflowId, tell, clearPending, withdraw, start, end }: Remedies,
): Promise<void> {
  const warn = (message: string) => log.warn({ [`${what}_id`]: id }, message);
  const state = await workflowState(client, workflowId);
  if (state === 'running') {
    // Only where there is news: each signal stays in the workflow's history, and a run may wait for months.
    if (signalPending) await tell?.();
  } else if (ended) {
    await clearPending?.();
  } else if (unaccepted) {
    if (await withdraw?.()) warn('withdrew a run whose creation was never confirmed to its caller');
  } else if (state === 'missing') {
    if (await start()) warn('started a run that had been left without its workflow');
  } else {
    await end();
    warn('ended a run whose workflow had been ended from outside');
  }
}
