import { pino } from 'pino';
import {
  createExecutionActivities,
  type ExecutionActivityDeps,
} from '../../src/activities/execute-prompt/execution.ts';
import type { Listener } from '../../src/db/listener.ts';
import { testPlaces } from './places.ts';

/** Hears nothing. */
export const deaf: Listener = {
  on: () => {},
  onReconnected: () => {},
  connected: () => false,
  close: async () => {},
};

const never = new AbortController().signal;

/** The steps of `executePrompt` in a worker that goes on for ever and hears nothing, but for what is given. */
export function testExecutionActivities(
  deps: Pick<ExecutionActivityDeps, 'db' | 'models'> & Partial<ExecutionActivityDeps>,
) {
  return createExecutionActivities({
    modelTimeoutMs: 20_000,
    stopping: never,
    graceOver: never,
    places: testPlaces(),
    listener: deaf,
    log: pino({ level: 'silent' }),
    ...deps,
  });
}
