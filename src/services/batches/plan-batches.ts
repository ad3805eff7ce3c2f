import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import type { BatchSettings, BatchWave } from '../../domain/batches/batch-mode.ts';
import {
  type ProviderBatchStatus,
  providerBatchStates,
  UNFINISHED_PROVIDER_BATCH,
} from '../../domain/batches/provider-batch-states.ts';
import { newId } from '../../domain/ids.ts';
import { clockText } from '../../domain/text/clock-text.ts';
import { type EvaluatorConfig, judgesOf } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import { batchWorkflowId } from '../../temporal/names.ts';
import { tellChanged, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { RunRef } from '../evaluations/creation/run-spec.ts';
import { startBatchWorkflow } from './batch-workflow.ts';
import type { BatchedRange } from './leftovers.ts';

/** The state of a run's batches, as its workflow needs it. */
export interface BatchesView {
  /** Nothing is left to wait for: the remaining calls are made one by one. */
  isDone: boolean;
  /** The state in one line, and in Markdown. */
  line: string;
  details: string;
}

const READ_RUN = prepared<RunRef>()((db, { evaluationId, round }) =>
  db
    .selectFrom('evaluations')
    .select(['id', 'workspace_id as workspaceId', 'prompt_name as promptName', 'model', 'batch'])
    .select(['source_evaluation_id as sourceEvaluationId', 'examples_total as examplesTotal'])
    .select(['examples_id as examplesId'])
    .select(sql<EvaluatorConfig[]>`evaluators`.as('evaluators'))
    .where('id', '=', evaluationId)
    .where('retries', '=', round)
    .where('status', '=', 'running'),
);
type Run = RowOf<typeof READ_RUN>;

const READ_ROWS = prepared<{ evaluationId: string }>()((db, { evaluationId }) =>
  db
    .selectFrom('provider_batches')
    .select(['id', 'number', 'round', 'wave', 'evaluator', 'model', 'status', 'items', 'counts', 'error'])
    .select(['seq_to as to', 'provider_batch_id as providerBatchId', 'provider_status as providerStatus'])
    .select(['next_poll_at as nextPollAt', 'give_up_at as giveUpAt'])
    .where('evaluation_id', '=', evaluationId)
    .orderBy('number'),
);
type Row = RowOf<typeof READ_ROWS>;

/** The calls of one model that a run makes in batches. */
interface Part {
  wave: BatchWave;
  evaluator: string | null;
  model: string;
}

const isUnfinished = ({ status }: Pick<Row, 'status'>) =>
  (UNFINISHED_PROVIDER_BATCH as readonly ProviderBatchStatus[]).includes(status);

/** What the run calls in batches, wave by wave. A model whose provider no longer supports batches is called later. */
function wavesOf(models: Models, { model, sourceEvaluationId, evaluators }: Run): Part[][] {
  const judges = judgesOf(evaluators).map(
    (judge) => ({ wave: 'judgements', evaluator: judge.name, model: judge.model }) as const,
  );
  const responses = sourceEvaluationId === null ? [{ wave: 'responses', evaluator: null, model } as const] : [];
  return [responses, judges].map((parts) => parts.filter((part) => models.batches.problemOf(part.model) === undefined));
}

const isOf = (part: Part) => (row: Row) => row.wave === part.wave && row.evaluator === part.evaluator;
const countText = (count: number) => count.toLocaleString('en-US');

/** `batch 2 (batch_abc): in_progress, 312 of 1,000; next check 12:30:00 UTC` */
function describe({ number, providerBatchId, providerStatus, status, items, counts, nextPollAt, error }: Row): string {
  const name = `batch ${number}${providerBatchId === null ? '' : ` (${providerBatchId})`}`;
  const state = status === 'in_progress' ? (providerStatus ?? status) : status;
  const done =
    counts === null
      ? `${countText(items)} calls`
      : `${countText(counts.succeeded + counts.failed)} of ${countText(counts.total)}`;
  const next = nextPollAt === null ? '' : `; next look ${clockText(nextPollAt.getTime())}`;
  return `${name}: ${state}, ${done}${next}${error === null ? '' : `; ${error.message}`}`;
}

function viewOf(rows: readonly Row[], isDone: boolean): BatchesView {
  const shown = rows.filter((row) => row.items > 0 || isUnfinished(row));
  const open = shown.filter(isUnfinished);
  const calls = open.reduce((sum, { items }) => sum + items, 0);
  return {
    isDone,
    line: `${open.length} of ${shown.length} batches at their providers, ${countText(calls)} calls`,
    details: shown.map(describe).join('\n\n') || 'its first batch is being prepared',
  };
}

export type PlanDeps = WorkflowStarter & { models: Models };

/**
 * Reads the batches of an active run and creates the next one if it is due: ranges of examples one after another, and the judges
 * once all responses exist.
 * @param query across workspaces
 */
export async function planBatches({ models, ...starter }: PlanDeps, query: Query, ref: RunRef): Promise<BatchesView> {
  const [run] = await query(READ_RUN, { evaluationId: ref.evaluationId, round: ref.round });
  const rows = await query(READ_ROWS, { evaluationId: ref.evaluationId });
  if (run === undefined) return viewOf(rows, false);
  const ofRound = rows.filter(({ round }) => round === ref.round);
  const isPlanning = ofRound.some(({ status }) => status === 'preparing' || status === 'submitting');
  // Batches submitted in an earlier round may respond to the same examples.
  if (isPlanning || rows.some((row) => row.round < ref.round && isUnfinished(row))) return viewOf(rows, false);
  for (const parts of wavesOf(models, run)) {
    for (const part of parts) {
      const from = Math.max(0, ...ofRound.filter(isOf(part)).map(({ to }) => to));
      if (from >= run.examplesTotal) continue;
      await createBatch(starter, query, run, ref.round, part, { from, number: (rows.at(-1)?.number ?? 0) + 1 });
      return viewOf(await query(READ_ROWS, { evaluationId: ref.evaluationId }), false);
    }
    if (ofRound.some(isUnfinished)) return viewOf(rows, false);
  }
  return viewOf(rows, true);
}

async function createBatch(
  starter: WorkflowStarter,
  query: Query,
  run: Run,
  round: number,
  { wave, evaluator, model }: Part,
  { from, number }: { from: number; number: number },
): Promise<void> {
  const id = newId();
  const [created] = await query((db) =>
    db
      .insertInto('provider_batches')
      .values({
        id,
        workspace_id: run.workspaceId,
        evaluation_id: run.id,
        number,
        round,
        wave,
        evaluator,
        provider: model.slice(0, model.indexOf('/')),
        model,
        seq_from: from,
        seq_to: run.examplesTotal,
        status: providerBatchStates.initial,
        created_at: now,
      })
      // A concurrent attempt has created it.
      .onConflict((conflict) => conflict.columns(['evaluation_id', 'number']).doNothing())
      .returning('id'),
  );
  const { workspaceId, promptName } = run;
  const stored = { id, workspaceId, evaluationId: run.id, promptName, number, wave, evaluator, model };
  if (created !== undefined) await startBatchWorkflow(starter, stored);
}

/** The ranges that a run has called in batches in a round, if leftovers are to fail. Empty if leftovers are called one by one. */
export async function rangesToFail(query: Query, { evaluationId, round }: RunRef): Promise<BatchedRange[]> {
  const [run] = await query(READ_RUN, { evaluationId, round });
  const settings: BatchSettings | null | undefined = run?.batch;
  if (run === undefined || settings?.then !== 'fail') return [];
  const rows = await query(READ_ROWS, { evaluationId });
  const evaluators = new Set(rows.filter((row) => row.round === round).map(({ evaluator }) => evaluator));
  const { examplesId, examplesTotal: to } = run;
  return [...evaluators].map((evaluator) => ({ evaluationId, examplesId, round, evaluator, from: 0, to }));
}

/** Signals the workflows of a run's unfinished batches that the run has ended. */
export async function tellBatches(starter: WorkflowStarter, query: Query, evaluationId: string): Promise<void> {
  const rows = await query((db) =>
    db
      .selectFrom('provider_batches')
      .select('id')
      .where('evaluation_id', '=', evaluationId)
      .where(inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH)),
  );
  for (const { id } of rows) await tellChanged(starter, batchWorkflowId(id));
}
