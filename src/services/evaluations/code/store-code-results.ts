import { type InferResult, sql } from 'kysely';
import { bindWorkspace, type Query, type WorkspaceDatabase } from '../../../db/database.ts';
import type { EvaluationSummary } from '../../../db/entities/evaluation.ts';
import { asJson, type Builder } from '../../../db/statement.ts';
import { ApiError, invalidField, notFound } from '../../../domain/errors.ts';
import { roundScore, weightedMean } from '../../../domain/evaluations/scoring.ts';
import { newId } from '../../../domain/ids.ts';
import { NO_TOKENS } from '../../../domain/usage.ts';
import type { Quotas } from '../../workspaces/quotas.ts';
import { type ResultToStore, storeResults } from '../run/results-store.ts';
import { ROW_BYTES } from '../run/sum-up.ts';
import { requireRunByCaller, STILL_DUE } from './code-runs.ts';

/** The result of an example: its scores by name, or why it failed. */
export interface CodeResult {
  /** The position of the example. */
  seq: number;
  output?: string | null | undefined;
  scores?: Record<string, { score: number; reason: string | null }> | undefined;
  error?: { code: string; message: string } | undefined;
  durationMs?: number | undefined;
}

const lockRun = (db: Builder, workspaceId: string, id: string) =>
  db
    .selectFrom('evaluations')
    .select(['status', 'results_due_at', 'examples_id', 'examples_total', 'evaluators', 'retries', 'summary'])
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .forUpdate();

type LockedRun = InferResult<ReturnType<typeof lockRun>>[number];

const NOTHING: EvaluationSummary = {
  evaluated: 0,
  failed: 0,
  tokens: NO_TOKENS,
  cost: '0',
  judgeTokens: NO_TOKENS,
  judgeCost: '0',
  p50Ms: null,
  p95Ms: null,
};

/**
 * Stores results of a run of code: all of them or none. The first result of an example is kept, unless it is a failure of an earlier round.
 * @returns the number of new results
 * @throws ApiError `not_found`, `invalid_state` if it accepts no (more) results, `invalid_request`, `quota_exceeded`
 */
export function storeCodeResults(
  { quotas }: { quotas: Pick<Quotas, 'check'> },
  db: WorkspaceDatabase,
  id: string,
  results: readonly CodeResult[],
): Promise<number> {
  return db.unbound.transaction(async (query) => {
    // The lock serializes the batches of a run, and keeps it from ending in between.
    const [run] = await query((all) => lockRun(all, db.workspaceId, id));
    if (run === undefined) throw notFound('This evaluation');
    requireRunByCaller(run);
    if (run.status !== 'running')
      throw new ApiError('invalid_state', `This evaluation is ${run.status}: it accepts no more results.`);
    for (const [index, result] of results.entries()) checkResult(run, result, `results.${index}`);
    await quotas.check(bindWorkspace(query, db.workspaceId), 'executionBytes');
    const before = await readStored(query, id, results);
    const isOpen = ({ seq }: CodeResult) => {
      const there = before.get(seq);
      return there === undefined || (there.status === 'failed' && there.round < run.retries);
    };
    const open = results.filter(isOpen);
    const spec = { examplesId: run.examples_id, round: run.retries };
    const rows = open.map((result) => ({ seq: result.seq, outcomeId: newId(), result: toStore(run, result) }));
    if (rows.length > 0) await storeResults(query, id, spec, rows);
    await keepSums(query, id, run, before, await readStored(query, id, open));
    return rows.length;
  });
}

/** @throws ApiError `invalid_request` */
function checkResult({ examples_total: total, evaluators }: LockedRun, { seq, scores }: CodeResult, at: string): void {
  if (seq >= total) throw invalidField(`${at}.seq`, `is not an example of this evaluation; the last is ${total - 1}`);
  if (scores === undefined) return;
  const names = evaluators.map(({ name }) => name);
  if (Object.keys(scores).length !== names.length || !names.every((name) => Object.hasOwn(scores, name)))
    throw invalidField(`${at}.scores`, `must have exactly the scores of this evaluation: ${names.join(', ')}`);
}

function toStore({ evaluators }: LockedRun, { output, scores, error, durationMs }: CodeResult): ResultToStore {
  const response = {
    output: output ?? '',
    toolCalls: [],
    finishReason: 'stop',
    tokens: NO_TOKENS,
    cost: { amount: null, currency: 'USD', pricing: null },
    modelMs: durationMs ?? 0,
    providerModel: null,
    // The program calls its model, which does not count as usage of this service.
    model: null,
    attempts: 0,
  } as const;
  return {
    ...(typeof output === 'string' && { response: { ...response, toolCalls: [] } }),
    isUntimed: durationMs === undefined,
    ...(scores === undefined
      ? { status: 'failed', error }
      : {
          status: 'scored',
          scores: Object.fromEntries(
            Object.entries(scores).map(([name, { score, reason }]) => [name, { score: roundScore(score), reason }]),
          ),
          score: weightedMean(evaluators.map(({ name, weight }) => ({ weight, score: scores[name]?.score ?? 0 }))),
        }),
  };
}

type StoredRows = ReadonlyMap<number, { status: string; round: number; bytes: number }>;

async function readStored(query: Query, id: string, results: readonly CodeResult[]): Promise<StoredRows> {
  const rows = await query((db) =>
    db
      .selectFrom('evaluation_results')
      .select(['seq', 'status', 'round', sql<number>`bytes + ${sql.lit(ROW_BYTES)}`.as('bytes')])
      .where('evaluation_id', '=', id)
      .where(sql<boolean>`seq = any(${results.map(({ seq }) => seq)}::int[])`),
  );
  return new Map(rows.map(({ seq, ...row }) => [seq, row]));
}

/** Counts and bytes, as lists and quotas need them; everything else is summed up at the end. */
async function keepSums(
  query: Query,
  id: string,
  run: LockedRun,
  before: StoredRows,
  after: StoredRows,
): Promise<void> {
  const summary = { ...(run.summary ?? NOTHING) };
  let bytes = 0;
  for (const [seq, row] of after) {
    const there = before.get(seq);
    summary.evaluated += there === undefined ? 1 : 0;
    summary.failed += (row.status === 'failed' ? 1 : 0) - (there === undefined ? 0 : 1);
    bytes += row.bytes - (there?.bytes ?? 0);
  }
  await query((db) =>
    db
      .updateTable('evaluations')
      .set({ ...STILL_DUE, summary: asJson(summary), result_bytes: sql<number>`result_bytes + ${bytes}::bigint` })
      .where('id', '=', id),
  );
}
