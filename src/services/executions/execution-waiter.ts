import type { Listener } from '../../db/listener.ts';
import { createWaiter, type Waiter } from '../../db/waiter.ts';
import { acceptExecution } from './accept-execution.ts';
import { onExecutionFinished } from './execution-finished.ts';
import { type ExecutionRow, isFinished } from './executions.ts';

/** Lets requests wait for executions. What one of them is told of is accepted: it runs whatever happens. */
export type ExecutionWaiter = Waiter<ExecutionRow>;

export function createExecutionWaiter(listener: Listener): ExecutionWaiter {
  return createWaiter(listener, {
    listen: (heard) => onExecutionFinished(listener, heard),
    read: acceptExecution,
    isFinished: ({ status }) => isFinished(status),
  });
}
