import { createExecutionActivities, type ExecutionActivityDeps } from './execution.ts';

export type ActivityDeps = ExecutionActivityDeps;

/** Every activity of the service, on the parts of the world that it is given. */
export function createActivities(deps: ActivityDeps) {
  return { executions: createExecutionActivities(deps) };
}
