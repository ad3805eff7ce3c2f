import { pino } from 'pino';
import { parsePublicId } from '../../src/domain/ids.ts';
import type { ToolCall } from '../../src/domain/prompts/messages.ts';
import { claimExecution } from '../../src/services/executions/run/claim-execution.ts';
import { failExecution } from '../../src/services/executions/run/end-execution.ts';
import { storeResponse } from '../../src/services/executions/run/store-response.ts';
import { createStreamWriter } from '../../src/services/streams/stream-writer.ts';
import type { TestService } from './service.ts';

/** A model call as a worker makes it, controlled by a test. */
export interface StreamedCall {
  attempt: number;
  /** Writes a piece of text and waits until it is in the database. */
  says(text: string): Promise<void>;
  asksFor(toolCall: ToolCall): Promise<void>;
  /** Stores the response and completes the execution. */
  completes(output: string, toolCalls?: ToolCall[]): Promise<void>;
}

/** Makes the calls of a service without workers. */
export function streamedCalls(service: TestService) {
  const { query } = service.dependencies.db.system;
  const writer = createStreamWriter({ query, log: pino({ level: 'silent' }) });
  const uuidOf = (id: string) => parsePublicId('execution', id) ?? '';

  return {
    /** Claims an execution, like a worker that starts a call. @param id public */
    async begin(id: string): Promise<StreamedCall> {
      const claimed = await claimExecution(query, uuidOf(id));
      if (typeof claimed === 'string' || !('attempt' in claimed)) throw new Error('There is no call to make.');
      const { attempt } = claimed;
      const stream = writer.open(uuidOf(id), attempt, 'ws_test');
      return {
        attempt,
        async says(text) {
          stream.onDelta({ type: 'text', text });
          await stream.end();
        },
        async asksFor(toolCall) {
          stream.onDelta({ type: 'tool_call', toolCall });
          await stream.end();
        },
        async completes(output, toolCalls = []) {
          await storeResponse(query, uuidOf(id), attempt, {
            output,
            toolCalls,
            finishReason: 'stop',
            tokens: { input: 1, output: 1, cached_input: 0, reasoning: 0, total: 2 },
            cost: { amount: '0', currency: 'USD', pricing: null },
            modelMs: 1,
            providerModel: null,
          });
        },
      };
    },
    fail: (id: string) => failExecution(query, uuidOf(id), { code: 'model_timeout', message: 'It took too long.' }),
    /** Deletes the rows of a stream, as the clean-up does, or a crash of PostgreSQL. */
    async forget(id: string): Promise<void> {
      await query((db) => db.deleteFrom('stream_deltas').where('execution_id', '=', uuidOf(id)));
    },
  };
}
