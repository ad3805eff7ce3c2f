import { Context } from '@temporalio/activity';
import type { Database } from '../db/database.ts';
import type { ExecutionStatus } from '../domain/execution-states.ts';
import type { ModelParameters } from '../domain/parameters.ts';
import type { Models } from '../models/model.ts';
import { ModelError } from '../models/model-error.ts';
import { answerExecution, completeExecution, failExecution } from '../services/finish-execution.ts';
import { withHeartbeats } from './heartbeats.ts';
import { type CallsUnderWay, callOnce, throwForTemporal } from './model-call.ts';
import { untilDatabaseAnswers } from './until-database-answers.ts';

export interface ExecutionActivityDeps {
  db: Database;
  models: Models;
  modelTimeoutMs: number;
}

export type ExecutionActivities = ReturnType<typeof createExecutionActivities>;

/** Takes an execution to call its model; none where it was withdrawn, canceled or has its answer. */
const CLAIM = {
  name: 'claim-execution',
  text: `update executions set status = 'running', attempts = attempts + 1, started_at = coalesce(started_at, now())
         where id = $1 and status in ('queued', 'running') and answered_at is null
         returning model, input, parameters`,
};
const STORE_SPENT = {
  text: `update executions set tokens_input = $2, tokens_output = $3, tokens_cached_input = $4, tokens_reasoning = $5,
           cost_amount = $6, pricing = $7
         where id = $1 and answered_at is null`,
};

/** The steps of the workflow `executePrompt`. Each can be run again without harm. */
export function createExecutionActivities({ db, models, modelTimeoutMs }: ExecutionActivityDeps) {
  const underWay: CallsUnderWay = new Map();
  const query = db.system.query;

  /** What a withheld answer was billed all the same. */
  async function storeSpent(id: string, { tokens, cost }: NonNullable<ModelError['spent']>): Promise<void> {
    const spent = [tokens.input, tokens.output, tokens.cached_input, tokens.reasoning, cost.amount, cost.pricing];
    await withHeartbeats(() => untilDatabaseAnswers(() => query(STORE_SPENT, [id, ...spent])));
  }

  return {
    /**
     * Calls the model and stores its answer. Does nothing where there is an answer already or nothing to run any more.
     * @throws ApplicationFailure with the model's error code as type
     */
    async callModel(executionId: string): Promise<{ status: ExecutionStatus } | null> {
      const { cancellationSignal } = Context.current();
      const [claimed] = await withHeartbeats(() =>
        untilDatabaseAnswers(
          () => query<{ model: string; input: string; parameters: ModelParameters }>(CLAIM, [executionId]),
          cancellationSignal,
        ),
      );
      if (!claimed) return null;
      let status: ExecutionStatus | undefined;
      try {
        await callOnce(underWay, executionId, async (signal) => {
          const answer = await models.generate({ ...claimed, signal, timeoutMs: modelTimeoutMs });
          // The answer is paid for: the database may be away for a while, it is stored all the same.
          status = await untilDatabaseAnswers(() => answerExecution(query, executionId, answer));
        });
      } catch (error) {
        if (error instanceof ModelError && error.spent !== undefined) await storeSpent(executionId, error.spent);
        throwForTemporal(error);
      }
      return status === undefined ? null : { status };
    },

    /**
     * Marks an answered execution as completed, with its event; one that has ended or was withdrawn stays as it is.
     * @returns how it ended
     */
    async recordCompletion(executionId: string): Promise<ExecutionStatus | 'withdrawn'> {
      return (await completeExecution(query, executionId)) ?? 'withdrawn';
    },

    /**
     * Marks an execution as failed with its error and its event, or (null) as canceled; one that has ended stays as it is.
     * @returns how it ended
     */
    async recordFailure(
      executionId: string,
      error: { code: string; message: string } | null,
    ): Promise<ExecutionStatus | 'withdrawn'> {
      return (await failExecution(query, executionId, error)) ?? 'withdrawn';
    },
  };
}
