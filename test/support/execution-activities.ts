import { pino } from 'pino';
import {
  createExecutionActivities,
  type ExecutionActivityDeps,
} from '../../src/activities/execute-prompt/execution.ts';
import type { Listener } from '../../src/db/listener.ts';
import { createTurns } from '../../src/lib/turns.ts';
import { createStreamWriter } from '../../src/services/streams/stream-writer.ts';
import { testSlots } from './slots.ts';

/** Gets no notifications. */
export const deaf: Listener = {
  on: () => {},
  onReconnected: () => {},
  connected: () => false,
  close: async () => {},
};

const never = new AbortController().signal;

/** The steps of `executePrompt` in a worker that never stops and gets no notifications, unless overridden. */
export function testExecutionActivities(
  deps: Pick<ExecutionActivityDeps, 'db' | 'models'> & Partial<ExecutionActivityDeps>,
) {
  const log = pino({ level: 'silent' });
  return createExecutionActivities({
    modelTimeoutMs: 20_000,
    stopping: never,
    graceOver: never,
    slots: testSlots(),
    turns: createTurns(),
    startLimiter: { callBegan: () => false, untilQuiet: async () => {} },
    listener: deaf,
    streams: createStreamWriter({ query: deps.db.system.query, log }),
    log,
    ...deps,
  });
}
