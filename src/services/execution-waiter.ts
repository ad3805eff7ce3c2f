import { CHANNELS, type Listener } from '../db/listener.ts';
import { type ExecutionRow, getExecution, isFinished } from './executions.ts';
import { createWaiter, type Waiter } from './waiter.ts';

/** Lets requests wait for executions. */
export type ExecutionWaiter = Waiter<ExecutionRow>;

export function createExecutionWaiter(listener: Listener): ExecutionWaiter {
  return createWaiter(listener, {
    channel: CHANNELS.executionFinished,
    read: getExecution,
    isFinished: ({ status }) => isFinished(status),
  });
}
