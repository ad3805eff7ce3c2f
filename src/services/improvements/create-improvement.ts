import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson } from '../../db/statement.ts';
import { publicId } from '../../domain/ids.ts';
import { NOTHING_SPENT, type SearchState } from '../../domain/improvements/improvement.ts';
import { improvementStates } from '../../domain/improvements/improvement-states.ts';
import { readParts } from '../../domain/improvements/parts.ts';
import { recordChange } from '../audit/record-change.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { getImprovement, type ImprovementRow, noteInLedger, saveCandidates } from './improvements.ts';
import type { PlannedImprovement } from './plan-improvement.ts';
import { NEW_RUN } from './search.ts';

const AT_START: SearchState = {
  spent: NOTHING_SPENT,
  best: { number: 0, check: 0 },
  curve: [],
  noise: null,
  dearest: 0,
  reflectionChars: 0,
  outOfMoney: false,
  finalist: null,
  look: null,
};

/**
 * Stores an improvement with its base, and notes the examples that it learns from: these are never held out later. Runs in the
 * caller's transaction.
 * @throws ApiError `quota_exceeded`
 */
export async function createImprovement(
  query: Query,
  { quotas }: { quotas: Pick<Quotas, 'require' | 'check'> },
  id: string,
  {
    promptName,
    version,
    base,
    evaluators,
    request,
    dataset,
    split,
    feedbackKeys,
    maxCost,
    deadline,
  }: PlannedImprovement,
): Promise<ImprovementRow> {
  await quotas.check(query, 'executionBytes');
  const seqsOf = (part: 'train' | 'check' | 'held_out') => split[part].map(({ seq }) => seq);
  await query((db) =>
    db.insertInto('improvements').values({
      id,
      prompt_name: promptName,
      prompt_version: version,
      base: asJson(base),
      request: asJson({ ...request, seed: request.seed === '' ? id : request.seed }),
      evaluators: asJson(evaluators),
      dataset_name: dataset.name,
      dataset_version: dataset.version,
      split: asJson({ train: seqsOf('train'), check: seqsOf('check'), held_out: seqsOf('held_out') }),
      state: asJson(AT_START),
      status: improvementStates.initial,
      max_cost: maxCost,
      deadline,
      created_at: now,
    }),
  );
  await saveCandidates(query, id, [
    {
      number: 0,
      round: 0,
      parent: null,
      kind: 'base',
      status: 'checked',
      content: { template: base.template, messages: base.messages, tools: base.tools },
      change: null,
      diagnosis: null,
      reject: null,
      run: { ...NEW_RUN, texts: { ...readParts(base, request.parts) } },
    },
  ]);
  await noteInLedger(
    query,
    promptName,
    [...new Set([...[...split.train, ...split.check].map(({ key }) => key), ...feedbackKeys])],
    'seen',
  );
  await recordChange(query, 'improvement.started', publicId('improvement', id), {
    prompt_name: promptName,
    version,
    dataset: dataset.name,
    max_cost: maxCost,
  });
  await quotas.require(query, 'improvements');
  return getImprovement(query, id);
}

/**
 * Deletes an improvement that was stored although its caller receives an error, and its idempotency key. Safe to repeat.
 * @param id UUID
 */
export async function withdrawImprovement(db: WorkspaceDatabase, id: string): Promise<void> {
  await db.transaction(async (query) => {
    await query((own) => own.deleteFrom('idempotency_keys').where('resource_id', '=', id));
    await query((own) => own.deleteFrom('improvement_candidates').where('improvement_id', '=', id));
    await query((own) => own.deleteFrom('improvements').where('id', '=', id));
  });
}
