import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import { publicId } from '../../domain/ids.ts';
import { executionWorkflowId } from '../../temporal/names.ts';
import {
  startWorkflow,
  TEMPORAL_DEADLINE_MS,
  type WorkflowStarter,
  type WorkflowToStart,
} from '../../temporal/workflows.ts';
import type { executePrompt } from '../../workflows/execute-prompt.ts';

/** The execution that a workflow is started for. */
export interface StoredExecution {
  id: string;
  workspaceId: string;
  /** Null for a draft without a prompt. */
  promptName: string | null;
  /** Null for a draft. */
  promptVersion: number | null;
  model: string;
  /** Characters of the filled prompt. */
  inputChars: number;
}

function whatRuns({ promptName, promptVersion }: StoredExecution): string {
  if (promptVersion !== null) return `${promptName} v${promptVersion}`;
  return promptName === null ? 'a draft' : `a draft of ${promptName}`;
}

/** The workflow of a stored execution. */
export function executionWorkflow(execution: StoredExecution): WorkflowToStart<Parameters<typeof executePrompt>> {
  const { id, workspaceId, promptName, model, inputChars } = execution;
  const prompt = whatRuns(execution);
  return {
    type: 'executePrompt',
    id: executionWorkflowId(id),
    queue: 'executions',
    workspaceId,
    args: [{ executionId: id, prompt, model, workspace: publicId('workspace', workspaceId), inputChars }],
    summary: `${prompt} on ${model}`,
    attributes: { prompt: promptName, model },
  };
}

/**
 * Starts the workflow of a stored execution. Repeating it for the same execution has no effect.
 * @returns false if the workflow was already started
 */
export const startExecutionWorkflow = (starter: WorkflowStarter, execution: StoredExecution): Promise<boolean> =>
  startWorkflow<typeof executePrompt>(starter, executionWorkflow(execution));

/** Requests the workflow to stop. The row is already `canceled`, so it does no harm if the workflow can't be reached. */
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

/** Within this time, a call in flight has noticed the change of its row, and its workflow has ended. */
const MIN_CANCEL_AFTER_MS = 2_000;
const MAX_CANCEL_AFTER_MS = 10_000;

/**
 * Like {@link cancelExecutionWorkflow}, some seconds later, when a workflow with a call in flight has ended. A request during the
 * call would make Temporal reject the workflow task that ends it, and repeat all of it. Hundreds of requests are spread over
 * time, so that they do not delay other workspaces. Does nothing if the process ends before.
 */
export function cancelExecutionWorkflowLater(client: Client, id: string, log: Logger): void {
  const ms = MIN_CANCEL_AFTER_MS + Math.random() * (MAX_CANCEL_AFTER_MS - MIN_CANCEL_AFTER_MS);
  setTimeout(() => void cancelExecutionWorkflow(client, id, log), ms).unref();
}
