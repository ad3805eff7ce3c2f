import { KEEP_ALIVE, serverSentEvent } from '../../http/event-stream.ts';
import type { StreamEvent, StreamFormat } from '../../services/streams/stream-events.ts';
import { presentExecution } from './presenter.ts';

function contentOf(event: StreamEvent) {
  switch (event.type) {
    case 'output_text.delta':
      return { delta: event.delta };
    case 'tool_call':
      return { tool_call: event.toolCall };
    case 'execution.restarted':
      return {};
    default:
      return { execution: presentExecution(event.execution) };
  }
}

/** The event stream of an execution. */
export const executionStream: StreamFormat = {
  keepAlive: KEEP_ALIVE,
  encode(event) {
    const { attempt, sequence } = event.id;
    return serverSentEvent({
      id: `${attempt}.${sequence}`,
      event: event.type,
      data: { type: event.type, sequence_number: sequence, ...contentOf(event) },
    });
  },
};
