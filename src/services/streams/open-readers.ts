import type { Readable } from 'node:stream';
import { StreamReader } from './stream-reader.ts';

const KEEP_ALIVE_EVERY_MS = 15_000;
/** A caller that reads nothing for this long is disconnected. */
const STALLED_MS = 60_000;
/** The time that streams have to finish when the process stops. */
const CLOSE_WITHIN_MS = 1_000;

/** Something that callers read, such as an execution: one source, however many read it. */
export interface Source<Entry> {
  key: string;
  /** The state of each reader. */
  readers: Map<StreamReader, Entry>;
  /** The number of readers, including those about to be added. */
  users: number;
}

type Open = (...args: never[]) => Readable | Promise<Readable>;

/** The streams of one kind that callers of this process read. */
export interface Hub<OpenOne extends Open = Open> {
  open: OpenOne;
  /** The number of open streams. */
  readonly openCount: number;
  /** Ends all streams. Streams opened later end after their first event. */
  close(): void;
}

/** The open streams of one kind in this process, with their sources. */
export interface OpenReaders<Entry, S extends Source<Entry>> {
  readonly sources: ReadonlyMap<string, S>;
  /** The source with this key, for a reader about to be added; created if missing. */
  enter(key: string, make: (source: Source<Entry>) => S): S;
  /** Undoes `enter` if no reader will be added. */
  leave(source: S): void;
  /** Later callers of `enter` get a new source for this key. */
  forget(source: S): void;
  /**
   * Adds a reader to an entered source, until the reader is closed.
   * @param onWanted as for {@link StreamReader}
   */
  add(source: S, entry: Entry, onWanted?: () => void): StreamReader;
  readonly isClosed: boolean;
  /** The interface for callers. @param open opens a stream */
  hub<OpenOne extends Open>(open: OpenOne): Hub<OpenOne>;
}

export interface OpenReadersOptions<S> {
  everyMs: number;
  /** Default: 60 s. */
  stalledMs?: number | undefined;
  /**
   * Called every `everyMs` while there are readers.
   * @param isQuiet a comment is due, so that no connection is considered dead: every 15 s
   */
  onTick: (isQuiet: boolean, sources: Iterable<S>) => void;
}

export function createOpenReaders<Entry, S extends Source<Entry>>({
  everyMs,
  stalledMs = STALLED_MS,
  onTick,
}: OpenReadersOptions<S>): OpenReaders<Entry, S> {
  const sources = new Map<string, S>();
  const open = new Set<StreamReader>();
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let nextKeepAliveAt = 0;

  function tick(): void {
    for (const reader of open)
      if (reader.stalledMs > stalledMs) reader.destroy(new Error('The caller is not reading the stream.'));
    const isQuiet = performance.now() >= nextKeepAliveAt;
    if (isQuiet) nextKeepAliveAt = performance.now() + KEEP_ALIVE_EVERY_MS;
    onTick(isQuiet, sources.values());
  }

  function forget(source: S): void {
    if (sources.get(source.key) === source) sources.delete(source.key);
  }

  function leave(source: S): void {
    source.users -= 1;
    if (source.users === 0) forget(source);
  }

  return {
    sources,
    enter(key, make) {
      const source = sources.get(key) ?? make({ key, readers: new Map(), users: 0 });
      sources.set(key, source);
      source.users += 1;
      return source;
    },
    leave,
    forget,
    add(source, entry, onWanted = () => {}) {
      const reader = new StreamReader(onWanted, () => {
        open.delete(reader);
        source.readers.delete(reader);
        leave(source);
        if (open.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      open.add(reader);
      source.readers.set(reader, entry);
      timer ??= setInterval(tick, everyMs).unref();
      return reader;
    },
    get isClosed() {
      return isClosed;
    },
    hub: (openOne) => ({
      open: openOne,
      get openCount() {
        return open.size;
      },
      close() {
        isClosed = true;
        for (const reader of open) {
          if (reader.isReady) reader.finish();
          else reader.destroy();
        }
        setTimeout(() => {
          for (const reader of open) reader.destroy();
        }, CLOSE_WITHIN_MS).unref();
      },
    }),
  };
}
