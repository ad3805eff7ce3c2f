import type { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 1_000;
/** If a process hangs for this long, Temporal times out its batch so that another worker can take it. */
const FROZEN_MS = 6_000;
/** How long calls in flight can continue after the worker asked its activities to end. */
const LAST_GRACE_MS = 5_000;

/** The signals that end an example early. */
export interface Stops {
  /** Aborts calls in flight. */
  giveUp: AbortSignal;
  /** Ends waits without a call in flight: for a slot, before a retry. */
  stopWaiting: AbortSignal;
}

/** Tells when a batch must stop. */
export interface BatchWatch extends Stops {
  /** Starts nothing more, and waits only for calls in flight. */
  stop(): void;
  /** Whether no more examples may be started. */
  stopped(): boolean;
  /** Called when the batch has ended. */
  end(): void;
}

/** The progress of a batch, shown to operators by its heartbeats. */
export interface BatchHeartbeat {
  /** Examples with a result, including those from earlier attempts. */
  done: number;
  of: number;
  /** Examples that failed in this attempt. */
  failed: number;
  inFlight: number;
  /** US dollars that the batch has cost for its budget, including earlier attempts. */
  spentUsd: number;
  /** Numbers of the isolated examples in flight: processes crashed while these ran. */
  setAside?: number[];
  /** Examples that were already isolated when a process crashed. */
  warned?: readonly number[];
  /** Why calls wait and until when, and which scorers fail. */
  waits?: string[];
}

export interface BatchWatchOptions {
  /** Aborted when this process shuts down: the batch finishes its calls in flight, and another worker continues it. */
  stopping: AbortSignal;
  /** Whether the run has ended; polled every second once the batch must stop. */
  isOver: () => Promise<boolean>;
  /** The content of each heartbeat. */
  describe: () => BatchHeartbeat;
}

/**
 * Sends the heartbeats of a batch and detects when it must stop, so that it starts no more examples. Calls in flight are
 * aborted only if the run has ended or this process must exit.
 */
export function watchBatch(context: Context, { stopping, isOver, describe }: BatchWatchOptions): BatchWatch {
  const giveUp = new AbortController();
  const stopWaiting = new AbortController();
  const stop = () => stopWaiting.abort();
  if (stopping.aborted) stop();
  stopping.addEventListener('abort', stop, { once: true });
  let cancelRequested = false;
  let lastGrace: NodeJS.Timeout | undefined;
  let lastBeat = Date.now();
  const isFrozen = () => Date.now() - lastBeat > FROZEN_MS;

  async function giveUpIfOver(): Promise<void> {
    // While the database is down, the run cannot have been ended.
    if (await isOver().catch(() => false)) giveUp.abort();
  }

  const timer = setInterval(() => {
    if (isFrozen()) stopWaiting.abort();
    lastBeat = Date.now();
    context.heartbeat(describe());
    if (cancelRequested && !giveUp.signal.aborted) void giveUpIfOver();
  }, HEARTBEAT_MS);
  context.cancelled.catch(() => {
    stopWaiting.abort();
    const details = context.cancellationDetails;
    cancelRequested = details?.cancelRequested ?? false;
    if (cancelRequested) void giveUpIfOver();
    if (details?.workerShutdown) lastGrace = setTimeout(() => giveUp.abort(), LAST_GRACE_MS);
  });

  return {
    giveUp: giveUp.signal,
    stopWaiting: stopWaiting.signal,
    stop,
    stopped: () => stopWaiting.signal.aborted || isFrozen(),
    end() {
      clearInterval(timer);
      // An orderly end is not a crash.
      context.heartbeat(describe());
      clearTimeout(lastGrace);
      stopping.removeEventListener('abort', stop);
    },
  };
}
