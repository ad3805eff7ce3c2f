import type { Listener } from '../../db/listener.ts';
import { createWaiter, type Waiter } from '../../db/waiter.ts';
import { acceptExecution } from './creation/accept-execution.ts';
import { isFinished, type SeenExecution, toSeen } from './executions.ts';
import { onExecutionFinished } from './run/execution-finished.ts';

/**
 * Lets requests wait for executions. What one of them is told of is accepted: it runs whatever happens. A long one is not read while it is
 * waited for.
 */
export type ExecutionWaiter = Waiter<SeenExecution>;

export function createExecutionWaiter(listener: Listener): ExecutionWaiter {
  return createWaiter(listener, {
    listen: (heard) =>
      onExecutionFinished(listener, (id, told) =>
        heard(id, () => {
          const row = told();
          return row && toSeen(row);
        }),
      ),
    read: acceptExecution,
    isFinished: ({ status }) => isFinished(status),
  });
}
