import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import { ENDED_EVALUATION, evaluationStates } from '../../domain/evaluations/evaluation-states.ts';
import { publicId } from '../../domain/ids.ts';
import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { BatchRef } from '../../models/batches/batched-models.ts';
import type { HttpProvider } from '../../models/providers/registry.ts';
import type { RunSpec } from '../evaluations/creation/run-spec.ts';

const LOAD = prepared<{ id: string }>()((db, { id }) =>
  db
    .selectFrom('provider_batches as b')
    .innerJoin('evaluations as e', 'e.id', 'b.evaluation_id')
    .select(['b.id', 'b.number', 'b.round', 'b.wave', 'b.evaluator', 'b.provider', 'b.model as batchModel', 'b.status'])
    .select(['b.seq_from as from', 'b.seq_to as to', 'b.items', 'b.submissions', 'b.files', 'b.counts', 'b.error'])
    .select(['b.evaluation_id as evaluationId', 'b.provider_batch_id as providerBatchId'])
    .select(['b.provider_status as providerStatus', 'b.cancel_requested as cancelRequested'])
    .select(['b.created_at as createdAt', 'b.submitted_at as submittedAt', 'b.give_up_at as giveUpAt'])
    .select(['b.next_poll_at as nextPollAt', 'b.finished_at as finishedAt', 'b.expires_at as expiresAt'])
    .select(sql<number>`coalesce(b.reserved_cost, 0)::float8`.as('reservedUsd'))
    .select(['e.workspace_id as workspaceId', 'e.content', 'e.includes', 'e.model', 'e.parameters', 'e.batch'])
    .select(['e.fallback_models as fallbackModels', 'e.examples_id as examplesId', 'e.retries'])
    .select(['e.source_evaluation_id as sourceEvaluationId', 'e.reuse_max_age as reuseMaxAge'])
    .select(['e.example_threshold as exampleThreshold'])
    .select(['e.evaluator_secrets as evaluatorSecrets', 'e.examples_total as examplesTotal'])
    .select(['e.target', 'e.prompt_name as promptName', 'e.prompt_version as promptVersion'])
    .select(sql<EvaluatorConfig[]>`e.evaluators`.as('evaluators'))
    .select(sql<number | null>`e.max_cost::float8`.as('maxCostUsd'))
    .select(sql<boolean>`e.status = 'running' and e.retries = b.round`.as('isRunning'))
    .select(
      sql<boolean>`(${inStates(evaluationStates, ENDED_EVALUATION, 'e')} or e.retries <> b.round)`.as('isRunOver'),
    )
    .where('b.id', '=', id),
);

/** A batch and its run, whose `round` and `examplesId` it uses. */
export type LoadedBatch = RowOf<typeof LOAD> & RunSpec;

/** Undefined if the batch was deleted. @param query across workspaces */
export async function loadBatch(query: Query, id: string): Promise<LoadedBatch | undefined> {
  const [row] = await query(LOAD, { id });
  return row;
}

export const refOf = ({ id, provider, batchModel }: LoadedBatch): BatchRef => ({
  provider: provider as HttpProvider,
  model: batchModel,
  tag: publicId('providerBatch', id),
});

const DEFAULT_MAX_WAIT_MS = 24 * 60 * 60_000;

/** How long the run waits for the batch. */
export const maxWaitMs = ({ batch }: Pick<LoadedBatch, 'batch'>): number =>
  batch === null ? DEFAULT_MAX_WAIT_MS : batch.max_wait * 1000;

/** When the run gives up on the batch. */
export const giveUpTime = (batch: LoadedBatch): number =>
  batch.giveUpAt?.getTime() ?? batch.createdAt.getTime() + maxWaitMs(batch);
