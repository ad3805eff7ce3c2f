import { bindWorkspace, type Database, type Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { publicId } from '../../domain/ids.ts';
import type { Failure } from '../../domain/improvements/improvement.ts';
import type { Verdict } from '../../domain/improvements/verdict.ts';
import { writeEvent } from '../events/write-event.ts';
import { type ImprovementRow, lockImprovement, SIGNAL_PENDING, saveImprovement } from './improvements.ts';
import type { Search } from './search.ts';

/** The error of an improvement whose workflow was canceled or terminated from outside. */
export const ENDED_BY_OPERATOR = {
  code: 'ended_by_operator',
  message: 'An operator ended the improvement. Retry it to continue.',
};

export async function completeImprovement(
  query: Query,
  row: ImprovementRow,
  verdict: Verdict,
): Promise<ImprovementRow> {
  await writeEvent(query, 'improvement.completed', {
    improvement_id: publicId('improvement', row.id),
    prompt_name: row.prompt_name,
    result: verdict.result,
    difference: verdict.difference,
    p_value: verdict.p_value,
    candidate: verdict.candidate,
  });
  // A search that was paused while its last runs were in flight ends as well.
  const running = row.status === 'paused' ? await saveImprovement(query, row, { status: 'running' }) : row;
  return saveImprovement(query, running, { status: 'completed', status_reason: null, verdict }, { finished_at: now });
}

/** Ends an improvement with an error; a retry continues it. Its results are kept. */
export async function failImprovement(query: Query, row: ImprovementRow, error: Failure): Promise<ImprovementRow> {
  await writeEvent(query, 'improvement.failed', {
    improvement_id: publicId('improvement', row.id),
    prompt_name: row.prompt_name,
    error,
  });
  return saveImprovement(query, row, { status: 'failed', status_reason: null, error }, { finished_at: now });
}

/** The same for its workflow and the reconciliation. */
export async function endWithError({ system }: Database, id: string, error: Failure): Promise<void> {
  await system.transaction(async (query) => {
    const row = await lockImprovement(query, id);
    if (row?.status !== 'running' && row?.status !== 'paused') return;
    await failImprovement(bindWorkspace(query, row.workspace_id), row, error);
  });
}

/** Pauses a search that cannot pay for what its result depends on, until it is resumed with a higher `max_cost`. */
export async function pauseForMoney(search: Search): Promise<void> {
  const { query, row, state } = search;
  const reason = `of max_cost, ${row.max_cost} USD, too little is left for the ${row.phase}: resume with a higher max_cost to continue`;
  if (row.status === 'running')
    search.row = await saveImprovement(query, row, { status: 'paused', status_reason: reason, state }, SIGNAL_PENDING);
}
