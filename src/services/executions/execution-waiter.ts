import type { Listener } from '../../db/listener.ts';
import { createWaiter, type Waiter } from '../../db/waiter.ts';
import { acceptExecution } from './creation/accept-execution.ts';
import { isFinished, type SeenExecution, toSeen } from './executions.ts';
import { onExecutionFinished } from './run/execution-finished.ts';

/**
 * Lets requests wait for executions. An execution returned to a waiting request is accepted: it runs whatever happens. Long ones
 * are not read while requests wait for them.
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
