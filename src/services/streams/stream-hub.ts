import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { Database, WorkspaceDatabase } from '../../db/database.ts';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { CHANNELS, type Listener } from '../../db/listener.ts';
import { isFinished } from '../executions/executions.ts';
import { onExecutionFinished } from '../executions/run/execution-finished.ts';
import { type DeltaRow, NEXT_DELTAS, ROWS_AT_ONCE, UNFINISHED } from './deltas.ts';
import { createOpenReaders, type Hub, type Source } from './open-readers.ts';
import { openStream } from './open-stream.ts';
import type { EventId, StreamEvent, StreamFormat } from './stream-events.ts';
import { follow, type Position, readAfter } from './stream-position.ts';
import type { StreamReader } from './stream-reader.ts';
import { lastEvents, readResult, type StreamResult } from './stream-result.ts';

/**
 * Streams running executions to callers of this process: the events of an execution as bytes, from its start or after an event
 * that the caller has. The stream ends with the execution, or without a last event if this process stops; the caller then
 * continues with another process. Throws ApiError `not_found`; `invalid_request` if there is no event `after`.
 */
export type StreamHub = Hub<
  (db: WorkspaceDatabase, id: string, format: StreamFormat, after?: EventId) => Promise<Readable>
>;

/** Notifications may be lost, so streams also poll at this interval. */
const POLL_INTERVAL_MS = 3_000;
/** The maximum number of positions that one statement reads from. */
const POSITIONS_AT_ONCE = 200;

/** The state of a reader. */
interface Entry {
  db: WorkspaceDatabase;
  format: StreamFormat;
  position: Position;
  /** The remaining events are being sent. */
  isEnding: boolean;
}

/** An execution with readers. */
interface ReadExecution extends Source<Entry> {
  /** It has ended, and all its rows exist. */
  hasEnded: boolean;
  result: Promise<StreamResult> | undefined;
}

/** The readers of an execution that are at the same event. */
interface Group extends Omit<Entry, 'isEnding'> {
  source: ReadExecution;
  readers: StreamReader[];
  /** Whether the execution had ended before the rows were read. */
  hasEnded: boolean;
}

export interface StreamHubDeps {
  db: Pick<Database, 'system'>;
  listener: Listener;
  log: Logger;
  /** Default: 3 s. */
  pollIntervalMs?: number;
  /** Default: 60 s. */
  stalledMs?: number;
}

/**
 * One read of the database serves all readers of the process, whenever rows are written or an execution has ended. Readers whose
 * callers are not keeping up are skipped.
 */
export function createStreamHub({
  db: { system },
  listener,
  log,
  pollIntervalMs = POLL_INTERVAL_MS,
  stalledMs,
}: StreamHubDeps): StreamHub {
  /** By execution id. */
  const open = createOpenReaders<Entry, ReadExecution>({ everyMs: pollIntervalMs, stalledMs, onTick });
  const { sources } = open;
  let isPolling = false;
  let lookAgain = false;

  function wake(): void {
    lookAgain = sources.size > 0;
    if (isPolling || !lookAgain) return;
    isPolling = true;
    void (async () => {
      while (lookAgain) {
        lookAgain = false;
        await look().catch(warn);
      }
      isPolling = false;
    })();
  }

  function warn(error: unknown): void {
    if (isDatabaseUnavailable(error)) log.warn({ err: error }, 'cannot read streams; trying again');
    else log.error({ err: error }, 'cannot read streams; trying again');
  }

  listener.on(CHANNELS.streamWritten, wake);
  onExecutionFinished(listener, (id) => {
    const source = sources.get(id);
    if (source === undefined) return;
    source.hasEnded = true;
    wake();
  });
  listener.onReconnected(() => void lookForEnds());

  async function look(): Promise<void> {
    const groups = readyGroups();
    for (let from = 0; from < groups.length; from += POSITIONS_AT_ONCE) {
      const some = groups.slice(from, from + POSITIONS_AT_ONCE);
      const after = some.map(({ position }) => readAfter(position));
      const rows = await system.query(NEXT_DELTAS, {
        executions: some.map(({ source }) => source.key),
        attempts: after.map(({ attempt }) => attempt),
        sequences: after.map(({ sequence }) => sequence),
        indexes: some.map((_, index) => index),
      });
      const byGroup = Map.groupBy(rows, ({ index }) => index);
      some.forEach((group, index) => {
        deliver(group, byGroup.get(index) ?? []);
      });
    }
  }

  function readyGroups(): Group[] {
    const groups: Group[] = [];
    for (const source of sources.values()) {
      const { hasEnded } = source;
      const ofSource = new Map<string, Group[]>();
      for (const [reader, { db, position, format, isEnding }] of source.readers) {
        if (isEnding || !reader.isReady) continue;
        const key = `${position.attempt} ${position.sequence} ${position.skippedAttempt}`;
        const alike = ofSource.get(key) ?? [];
        ofSource.set(key, alike);
        const group = alike.find((each) => each.format === format);
        if (group !== undefined) group.readers.push(reader);
        else alike.push({ source, db, position, format, readers: [reader], hasEnded });
      }
      for (const alike of ofSource.values()) groups.push(...alike);
    }
    return groups;
  }

  function deliver(group: Group, rows: DeltaRow[]): void {
    const { source, format, readers, hasEnded } = group;
    const { events, position } = follow(group.position, rows);
    const bytes = encode(format, events);
    for (const reader of readers) {
      const entry = source.readers.get(reader);
      if (entry === undefined) continue;
      entry.position = position;
      if (bytes.length > 0) reader.send(bytes);
    }
    if (rows.length === ROWS_AT_ONCE) lookAgain = true;
    else if (hasEnded) void end({ ...group, position });
  }

  /** Sends the remaining events to readers that have all rows of an ended execution. */
  async function end({ source, db, position, format, readers }: Group): Promise<void> {
    const entries = readers.flatMap((reader) => source.readers.get(reader) ?? []);
    for (const entry of entries) entry.isEnding = true;
    try {
      source.result ??= readResult(db, source.key);
      const bytes = encode(format, lastEvents(await source.result, position));
      for (const reader of readers) {
        if (!source.readers.has(reader)) continue;
        reader.send(bytes);
        reader.finish();
      }
    } catch (error) {
      source.result = undefined;
      if (isDatabaseUnavailable(error)) for (const entry of entries) entry.isEnding = false;
      // It was deleted: a caller that requests it again gets an error.
      else for (const reader of readers) reader.destroy(error instanceof Error ? error : undefined);
    }
  }

  /** Also detects deleted executions. */
  async function lookForEnds(): Promise<void> {
    const running = [...sources.values()].filter(({ hasEnded }) => !hasEnded);
    try {
      if (running.length > 0) {
        const found = await system.query(UNFINISHED, { ids: running.map(({ key }) => key) });
        const unfinished = new Set(found.map(({ id }) => id));
        for (const source of running) if (!unfinished.has(source.key)) source.hasEnded = true;
      }
      wake();
    } catch (error) {
      warn(error);
    }
  }

  function onTick(isQuiet: boolean): void {
    if (isQuiet)
      for (const { readers } of sources.values())
        for (const [reader, { format, isEnding }] of readers)
          if (reader.isReady && !isEnding) reader.send(Buffer.from(format.keepAlive));
    void lookForEnds();
  }

  return open.hub(async (db, id, format, after) => {
    // From now on, a reader about to be added is notified of the end.
    const source = open.enter(id, (common) => ({ ...common, hasEnded: false, result: undefined }));
    try {
      const { execution, position } = await openStream(db, id, after);
      if (isFinished(execution.status)) source.hasEnded = true;
      const reader = open.add(source, { db, format, position, isEnding: false }, wake);
      const { attempt, sequence } = position;
      const first: StreamEvent = { type: 'execution.started', id: { attempt, sequence }, execution };
      reader.send(after === undefined ? encode(format, [first]) : Buffer.from(format.keepAlive));
      if (open.isClosed) reader.finish();
      else wake();
      return reader;
    } catch (error) {
      open.leave(source);
      throw error;
    }
  });
}

const encode = (format: StreamFormat, events: readonly StreamEvent[]) =>
  Buffer.from(events.map((event) => format.encode(event)).join(''));
