import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import { publicId } from '../../domain/ids.ts';
import { executionWorkflowId } from '../../temporal/names.ts';
import { startWorkflow, TEMPORAL_DEADLINE_MS, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { executePrompt } from '../../workflows/execute-prompt.ts';

/** What a workflow is started for. */
export interface StoredExecution {
  id: string;
  workspaceId: string;
  /** Null: a draft that is run on its own. */
  promptName: string | null;
  /** Null: a draft. */
  promptVersion: number | null;
  model: string;
  /** Characters of the filled prompt. */
  inputChars: number;
}

function whatRuns({ promptName, promptVersion }: StoredExecution): string {
  if (promptVersion !== null) return `${promptName} v${promptVersion}`;
  return promptName === null ? 'a draft' : `a draft of ${promptName}`;
}

/**
 * Starts the workflow of a stored execution. Doing it again for the same execution changes nothing.
 * @returns false where the workflow was started before
 */
export function startExecutionWorkflow(starter: WorkflowStarter, execution: StoredExecution): Promise<boolean> {
  const { id, workspaceId, promptName, model, inputChars } = execution;
  const prompt = whatRuns(execution);
  return startWorkflow<typeof executePrompt>(starter, {
    type: 'executePrompt',
    id: executionWorkflowId(id),
    queue: 'executions',
    workspaceId,
    args: [{ executionId: id, prompt, model, workspace: publicId('workspace', workspaceId), inputChars }],
    summary: `${prompt} on ${model}`,
    attributes: { prompt: promptName, model },
  });
}

/** Asks the workflow to stop; the row says `canceled` already, so a workflow that can't be reached does no harm. */
export async function cancelExecutionWorkflow(client: Client, id: string, log: Logger): Promise<void> {
  try {
    await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.workflow.getHandle(executionWorkflowId(id)).cancel(),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError))
      log.warn({ err: error, execution_id: id }, 'cannot cancel a workflow');
  }
}

/** Within it, a call in flight has heard of its row, and its workflow has ended. */
const MIN_CANCEL_AFTER_MS = 2_000;
const MAX_CANCEL_AFTER_MS = 10_000;

/**
 * As {@link cancelExecutionWorkflow}, some seconds later: a workflow whose call is in flight has ended by then. A request while
 * the call is in flight makes Temporal refuse the workflow task with which it ends, and all of it is done again. Hundreds of
 * requests are spread over the time, so that they delay no other workspace. Does nothing where the process ends before.
 */
export function cancelExecutionWorkflowLater(client: Client, id: string, log: Logger): void {
  const ms = MIN_CANCEL_AFTER_MS + Math.random() * (MAX_CANCEL_AFTER_MS - MIN_CANCEL_AFTER_MS);
  setTimeout(() => void cancelExecutionWorkflow(client, id, log), ms).unref();
}
