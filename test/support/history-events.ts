/** A history event as written by `historyToJson`, as far as tests use it. */
export interface HistoryEvent {
  /** Without `EVENT_TYPE_`. */
  type: string;
  timeMs: number;
  /** Shown to operators next to it. */
  summary: string | undefined;
  /** How long a started timer waits. */
  waitMs: number | undefined;
  /** Name of an activity that was scheduled. */
  activity: string | undefined;
}

interface Duration {
  seconds?: string;
  nanos?: number;
}

interface SavedEvent {
  eventType: string;
  eventTime: Duration;
  userMetadata?: { summary?: { data?: string } };
  timerStartedEventAttributes?: { startToFireTimeout: Duration };
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
}

const toMs = ({ seconds = '0', nanos = 0 }: Duration) => Number(seconds) * 1_000 + nanos / 1_000_000;
const decode = (data: string) => Buffer.from(data, 'base64').toString();

function fromSaved(event: SavedEvent): HistoryEvent {
  const summary = event.userMetadata?.summary?.data;
  const timer = event.timerStartedEventAttributes;
  return {
    type: event.eventType.replace('EVENT_TYPE_', ''),
    timeMs: toMs(event.eventTime),
    summary: summary === undefined ? undefined : JSON.parse(decode(summary)),
    waitMs: timer === undefined ? undefined : toMs(timer.startToFireTimeout),
    activity: event.activityTaskScheduledEventAttributes?.activityType.name,
  };
}

/** The events of that type, oldest first. */
export function eventsOf(history: string, type: string): HistoryEvent[] {
  const { events }: { events: SavedEvent[] } = JSON.parse(history);
  return events.map(fromSaved).filter((event) => event.type === type);
}

/** All readable text in a history: its JSON, and its decoded base64. */
export function readableText(history: string): string {
  const encoded = history.matchAll(/"([A-Za-z0-9+/]{8,}={0,2})"/g);
  return [history, ...[...encoded].map(([, data = '']) => decode(data))].join('\n');
}
