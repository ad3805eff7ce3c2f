import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import { untilDatabaseAnswers } from '../../db/until-database-answers.ts';
import { clockText } from '../../domain/text/clock-text.ts';
import { requestCancel } from '../../services/batches/change-batch.ts';
import { failLeftovers } from '../../services/batches/leftovers.ts';
import { type LoadedBatch, loadBatch, refOf } from '../../services/batches/load-batch.ts';
import { type BatchesView, planBatches, rangesToFail, tellBatches } from '../../services/batches/plan-batches.ts';
import type { RunRef } from '../../services/evaluations/creation/run-spec.ts';
import { evaluationWorkflowId } from '../../temporal/names.ts';
import { tellChanged, type WorkflowStarter } from '../../temporal/workflows.ts';
import { withHeartbeats } from '../heartbeats.ts';
import { type AdvanceDeps, createBatchAdvancer } from './advance.ts';

export type { BatchesView };

export type ProviderBatchDeps = AdvanceDeps & { starter: WorkflowStarter; log: Logger };

/** A batch as shown by its workflow. */
export interface BatchView {
  isOver: boolean;
  /** One line and Markdown. */
  line: string;
  details: string;
}

const NOT_RESPONDED = {
  code: 'batch_unfinished',
  message: 'The batch with the call of this example ended without a response.',
};
const HEARTBEAT_MS = 1_000;
const timeText = (time: Date | null) => (time === null ? '–' : clockText(time.getTime()));

function viewOf(batch: LoadedBatch): BatchView {
  const { status, providerStatus, providerBatchId, items, counts, error } = batch;
  const count = (number: number) => number.toLocaleString('en-US');
  const state = status === 'in_progress' && providerStatus !== null ? `${status} (${providerStatus})` : status;
  const reached =
    counts === null ? '' : `, ${count(counts.succeeded)} of them succeeded, ${count(counts.failed)} failed`;
  return {
    isOver: batch.finishedAt !== null,
    line: `${state}, ${count(items)} calls`,
    details: [
      `**${state}**${batch.cancelRequested ? ', is to be canceled' : ''}${error === null ? '' : `: ${error.message}`}`,
      `at the provider: ${providerBatchId ?? '–'}`,
      `${count(items)} calls${reached}`,
      `submitted ${timeText(batch.submittedAt)}, expires ${timeText(batch.expiresAt)}, given up ${timeText(batch.giveUpAt)}`,
      `next look ${timeText(batch.nextPollAt)}`,
    ].join('\n\n'),
  };
}

/** The trace of a run, read by `telemetry/workflows.ts`. */
interface Traced {
  traceparent?: string;
}

export type ProviderBatchActivities = ReturnType<typeof createProviderBatchActivities>;

/** The steps of the workflow `providerBatch`, and the batch steps of `evaluationRun`. Each is idempotent. */
export function createProviderBatchActivities(deps: ProviderBatchDeps) {
  const { db, models, starter, log } = deps;
  const { query } = db.system;
  const advance = createBatchAdvancer(deps);

  return {
    /** Starts a run's next batch if there is one, and returns the state of its batches. */
    planBatches: (run: RunRef & Traced): Promise<BatchesView> => planBatches({ ...starter, models }, query, run),

    /** Stores unanswered examples as failed if the run is set to do so. */
    failLeftovers: (run: RunRef): Promise<void> =>
      withHeartbeats(async (giveUp) => {
        for (const range of await rangesToFail(query, run)) await failLeftovers(query, range, NOT_RESPONDED, giveUp);
      }, 'stores calls without a response as failed'),

    /** Signals the batches of a run that it has ended. */
    tellBatches: ({ evaluationId }: RunRef): Promise<void> => tellBatches(starter, query, evaluationId),

    /** Null if the batch is gone. */
    async readBatch(id: string): Promise<BatchView | null> {
      const batch = await loadBatch(query, id);
      return batch === undefined ? null : viewOf(batch);
    },

    /** Requests the cancellation of the batch at the provider. */
    cancelBatch: (id: string): Promise<void> => requestCancel(query, id),

    /**
     * Takes the batch to its end. To wait, it fails and is retried after that time.
     * @throws ApplicationFailure `waits`, with the state of the batch and the time of the next attempt in its message
     */
    async advanceBatch(id: string, _traceparent?: string): Promise<void> {
      const context = Context.current();
      let doing = 'checks the batch';
      const heartbeat = setInterval(() => context.heartbeat(doing), HEARTBEAT_MS);
      try {
        await advance(id, {
          context,
          signal: context.cancellationSignal,
          tell(what) {
            doing = what;
          },
          // If the signal fails, reconciliation sends it.
          tellRun: ({ evaluationId, retries }) =>
            tellChanged(starter, evaluationWorkflowId(evaluationId, retries)).catch(() => false),
        });
      } finally {
        clearInterval(heartbeat);
      }
    },

    /** Deletes the files of the batch at the provider. */
    async cleanUpBatch(id: string, _traceparent?: string): Promise<void> {
      await withHeartbeats(async (giveUp) => {
        const batch = await loadBatch(query, id);
        if (batch === undefined || batch.submissions === 0) return;
        try {
          await models.batches.deleteFiles(refOf(batch), batch.files, giveUp);
        } catch (error) {
          log.warn({ err: error, batch_id: id }, 'cannot delete the files of a batch at its provider');
          throw error;
        }
        await untilDatabaseAnswers(
          () => query((all) => all.updateTable('provider_batches').set({ files: [] }).where('id', '=', id)),
          giveUp,
        );
      }, 'deletes files at the provider');
    },
  };
}
