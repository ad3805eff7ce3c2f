import { until } from './wait-for.ts';

/** One event of a stream. */
export interface ReceivedEvent {
  id: string;
  event: string;
  // Untyped: tests assert the shape of events themselves.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  data: any;
}

/** A stream as its caller reads it. */
export interface EventReader {
  status: number;
  headers: Headers;
  /** Received so far. */
  events: ReceivedEvent[];
  /** All received bytes as text. */
  text(): string;
  /** Settles when the server has closed it: whether it did so in an orderly way. */
  ended: Promise<'ended' | 'cut'>;
  /** Waits for an event of that type. */
  has(type: string, count?: number): Promise<void>;
  close(): void;
}

export interface StreamRequest {
  method?: 'GET' | 'POST';
  body?: unknown;
  headers?: Record<string, string>;
}

/** The text of a caller that follows the events. */
export function textOf(events: readonly ReceivedEvent[]): string {
  let text = '';
  for (const { event, data } of events) {
    if (event === 'execution.restarted') text = '';
    if (event === 'output_text.delta') text += data.delta;
  }
  return text;
}

/** Parses server-sent events like a browser, as far as this API uses them: one line per field. */
function parseEvent(block: string): ReceivedEvent | undefined {
  const fields = new Map(
    block
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return { id: fields.get('id') ?? '', event: fields.get('event') ?? '', data: JSON.parse(data) };
}

/** Opens a stream and reads it on and on. */
export async function readEvents(
  { origin, key }: { origin: string; key: string },
  path: string,
  { method = 'GET', body, headers = {} }: StreamRequest = {},
): Promise<EventReader> {
  const closing = new AbortController();
  const response = await fetch(`${origin}/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      Accept: 'text/event-stream',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: closing.signal,
  });
  const events: ReceivedEvent[] = [];
  let text = '';
  let rest = '';
  const ended = (async () => {
    try {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const event of blocks.map(parseEvent)) if (event !== undefined) events.push(event);
      }
      return 'ended' as const;
    } catch {
      return 'cut' as const;
    }
  })();
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    ended,
    has: async (type, count = 1) => {
      await until(`${count} ${type}`, async () => events.filter(({ event }) => event === type).length >= count);
    },
    close: () => closing.abort(),
  };
}
