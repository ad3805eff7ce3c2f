import { StreamReader } from './stream-reader.ts';

const KEEP_ALIVE_EVERY_MS = 15_000;
/** A caller who takes nothing of what there is for so long is cut off. */
const STALLED_MS = 60_000;
/** What is left of streams when the process stops. */
const CLOSE_WITHIN_MS = 1_000;

/** Streams of one kind that callers read from this process. */
export interface OpenReaders {
  /** As for {@link StreamReader}. */
  add(onWanted: () => void, onClosed: (reader: StreamReader) => void): StreamReader;
  readonly count: number;
  readonly isClosed: boolean;
  /** Ends all of them. */
  close(): void;
}

export interface OpenReadersOptions {
  everyMs: number;
  /** Default: 60 s. */
  stalledMs?: number | undefined;
  /**
   * Called every `everyMs` as long as there are readers.
   * @param isQuiet a comment is due, so that no connection is taken for dead: every 15 s
   */
  onTick: (isQuiet: boolean) => void;
}

export function createOpenReaders({ everyMs, stalledMs = STALLED_MS, onTick }: OpenReadersOptions): OpenReaders {
  const open = new Set<StreamReader>();
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let nextKeepAliveAt = 0;

  function tick(): void {
    for (const reader of open)
      if (reader.stalledMs > stalledMs) reader.destroy(new Error('The caller takes nothing of the stream.'));
    const isQuiet = performance.now() >= nextKeepAliveAt;
    if (isQuiet) nextKeepAliveAt = performance.now() + KEEP_ALIVE_EVERY_MS;
    onTick(isQuiet);
  }

  return {
    add(onWanted, onClosed) {
      const reader = new StreamReader(onWanted, () => {
        open.delete(reader);
        onClosed(reader);
        if (open.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      open.add(reader);
      timer ??= setInterval(tick, everyMs).unref();
      return reader;
    },
    get count() {
      return open.size;
    },
    get isClosed() {
      return isClosed;
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
  };
}
