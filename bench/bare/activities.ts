import { Context } from '@temporalio/activity';
import type { Models } from '../../src/models/model.ts';

export type BareActivities = ReturnType<typeof createBareActivities>;

const HEARTBEAT_MS = 1_000;

/** The same client library and heartbeats as the service, without a database. */
export function createBareActivities(models: Models) {
  return {
    async call(input: string): Promise<string> {
      const context = Context.current();
      const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
      try {
        const { output } = await models.generate({
          workspace: 'bench',
          model: 'openai/gpt-4o-mini',
          input,
          parameters: {},
          signal: context.cancellationSignal,
          timeoutMs: 120_000,
        });
        return output;
      } finally {
        clearInterval(heartbeat);
      }
    },

    async record(_output: string): Promise<void> {},
  };
}
