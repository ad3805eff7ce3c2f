import type { Readable } from 'node:stream';
import { stringifyJson } from '../domain/text/json-text.ts';
import { RawResponse } from './route.ts';

/** Server-sent events (WHATWG HTML, section 9.2). */
export const EVENT_STREAM = 'text/event-stream';

/** A comment that keeps proxies from closing an idle connection. */
export const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * One event. `data` becomes JSON, which has no line breaks.
 * @param event.id absent if a stream cannot resume after the event
 */
export function serverSentEvent({ id, event, data }: { id?: string; event: string; data: unknown }): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${stringifyJson(data)}\n\n`;
}

/** A response that lasts as long as its events. */
export function eventStream(events: Readable): RawResponse {
  // Proxies such as nginx would otherwise buffer the events.
  return new RawResponse(EVENT_STREAM, events, { 'X-Accel-Buffering': 'no' });
}
