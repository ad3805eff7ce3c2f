import type { Logger } from 'pino';
import type { Query } from '../../db/database.ts';
import type { StreamDeltaType } from '../../db/entities/stream-delta.ts';
import { isPassingDatabaseError } from '../../db/errors.ts';
import { storableText } from '../../domain/text/storable-text.ts';
import type { ModelDelta } from '../../models/model.ts';
import { BEGINNING, MAX_ROW_CHARS, WRITE_DELTAS } from './deltas.ts';

/** The response of one call on its way to its readers. */
export interface OpenStream {
  /** Never waits and never throws. */
  onDelta: (delta: ModelDelta) => void;
  /**
   * To be called once. Waits until everything is written, at most one second, so that readers find all of it when the execution ends. Readers get
   * the rest from the execution.
   */
  end(): Promise<void>;
}

/** Writes the streams of a process, all with the same statements. */
export interface StreamWriter {
  /**
   * @param attempt the number of the call of the execution, from 1
   * @param workspace whose share of the buffer it uses
   */
  open(executionId: string, attempt: number, workspace: string): OpenStream;
}

/** The minimum time between the starts of two statements if there are few streams, and before the first word of any. */
const MIN_GAP_MS = 10;
/** With many streams, statements are rarer, and each writes more rows. */
const GAP_MS_A_STREAM = 0.2;
/** The most that a piece waits for its statement to start. */
const MAX_GAP_MS = 50;
/** The pause after a statement that failed because the database was down. */
const AGAIN_MS = 500;
const END_WITHIN_MS = 1_000;
/**
 * The limit of all streams, while the database is down. A workspace may use at most as much as is left free: half of it if it is
 * the only one.
 */
const MAX_BUFFERED_CHARS = 8 * 1024 * 1024;

interface Row {
  stream: Stream;
  sequence: number;
  type: StreamDeltaType;
  data: string;
}

interface Stream {
  workspace: string;
  executionId: string;
  attempt: number;
  /** The sequence number of its last row. */
  sequence: number;
  /** A text row that can still be extended. */
  tail: Row | undefined;
  /** The number of rows that are not written yet. */
  unwritten: number;
  /** No more of it is written: its readers get the rest from the execution. */
  isDropped: boolean;
  /** Called when nothing is left to write. */
  onWritten: (() => void) | undefined;
}

/** Splits a text into pieces that fit into a row, without splitting a character. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > MAX_ROW_CHARS) {
    const last = text.charCodeAt(from + MAX_ROW_CHARS - 1);
    const isFirstHalf = last >= 0xd800 && last <= 0xdbff;
    const to = from + MAX_ROW_CHARS - (isFirstHalf ? 1 : 0);
    pieces.push(text.slice(from, to));
    from = to;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/**
 * One buffer for the process, written by one statement at a time: immediately if nothing was written in the last 10 ms. With more than 50
 * open streams, later deltas wait longer, 50 ms at most.
 * @param query of the system's database
 */
export function createStreamWriter({ query, log }: { query: Query; log: Logger }): StreamWriter {
  let pending: Row[] = [];
  let openStreams = 0;
  let bufferedChars = 0;
  const bufferedOf = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isWriting = false;
  /** When the last statement started. */
  let lastAt = Number.NEGATIVE_INFINITY;
  /** The time from then until the next one starts. */
  let gapMs = MIN_GAP_MS;

  function schedule(): void {
    if (isWriting || pending.length === 0 || timer !== undefined) return;
    const waitMs = lastAt + gapMs - performance.now();
    if (waitMs <= 0) void write();
    else timer = setTimeout(() => void write(), waitMs).unref();
  }

  /** Makes the next statement start this long after the last. */
  function hurry(ms: number): void {
    if (ms >= gapMs) return;
    gapMs = ms;
    clearTimeout(timer);
    timer = undefined;
    schedule();
  }

  function count({ workspace }: Stream, change: number): void {
    bufferedChars += change;
    const own = (bufferedOf.get(workspace) ?? 0) + change;
    if (own === 0) bufferedOf.delete(workspace);
    else bufferedOf.set(workspace, own);
  }

  function add(stream: Stream, type: StreamDeltaType, data: string): void {
    if (stream.isDropped || data === '') return;
    if ((bufferedOf.get(stream.workspace) ?? 0) + data.length > MAX_BUFFERED_CHARS - bufferedChars) {
      drop(stream, 'too much is waiting to be written');
      return;
    }
    count(stream, data.length);
    if (type === 'text' && stream.tail !== undefined && stream.tail.data.length + data.length <= MAX_ROW_CHARS) {
      stream.tail.data += data;
      return;
    }
    stream.sequence += 1;
    stream.unwritten += 1;
    const row = { stream, sequence: stream.sequence, type, data };
    stream.tail = type === 'text' ? row : undefined;
    pending.push(row);
  }

  function drop(stream: Stream, why: string, error?: unknown): void {
    if (stream.isDropped) return;
    stream.isDropped = true;
    for (const row of pending) if (row.stream === stream) count(stream, -row.data.length);
    pending = pending.filter((row) => row.stream !== stream);
    stream.onWritten?.();
    log.warn(
      { err: error, execution_id: stream.executionId },
      `a stream ends early: ${why}; its readers get the rest from the execution`,
    );
  }

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const rows = pending;
    pending = [];
    isWriting = true;
    gapMs = Math.min(MAX_GAP_MS, Math.max(MIN_GAP_MS, openStreams * GAP_MS_A_STREAM));
    lastAt = performance.now();
    for (const { stream } of rows) stream.tail = undefined;
    try {
      await query(WRITE_DELTAS, {
        executions: rows.map(({ stream }) => stream.executionId),
        attempts: rows.map(({ stream }) => stream.attempt),
        sequences: rows.map(({ sequence }) => sequence),
        types: rows.map(({ type }) => type),
        data: rows.map(({ data }) => storableText(data)),
      });
      for (const { stream, data } of rows) {
        count(stream, -data.length);
        stream.unwritten -= 1;
        if (stream.unwritten === 0) stream.onWritten?.();
      }
    } catch (error) {
      lastAt = performance.now() + AGAIN_MS - gapMs;
      if (isPassingDatabaseError(error)) {
        for (const { stream, data } of rows) if (stream.isDropped) count(stream, -data.length);
        pending = [...rows.filter(({ stream }) => !stream.isDropped), ...pending];
      } else {
        for (const { stream, data } of rows) {
          count(stream, -data.length);
          drop(stream, 'its rows cannot be written', error);
        }
      }
    }
    isWriting = false;
    schedule();
  }

  return {
    open(executionId, attempt, workspace) {
      openStreams += 1;
      const stream: Stream = {
        workspace,
        executionId,
        attempt,
        sequence: BEGINNING,
        tail: undefined,
        unwritten: 0,
        isDropped: false,
        onWritten: undefined,
      };
      return {
        onDelta(delta) {
          const begins = stream.sequence === BEGINNING;
          if (delta.type === 'text') for (const piece of piecesOf(delta.text)) add(stream, 'text', piece);
          else add(stream, 'tool_call', JSON.stringify(delta.toolCall));
          if (begins) hurry(MIN_GAP_MS);
          schedule();
        },
        async end() {
          openStreams -= 1;
          if (stream.isDropped || stream.unwritten === 0) return;
          await new Promise<void>((resolve) => {
            const late = setTimeout(resolve, END_WITHIN_MS);
            stream.onWritten = () => {
              clearTimeout(late);
              resolve();
            };
            hurry(0);
          });
        },
      };
    },
  };
}
