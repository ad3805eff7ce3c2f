import type { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 1_000;
/** Temporal times out the batch of a process that stood still for this long, so that another worker may have it. */
const FROZEN_MS = 6_000;
/** How long calls in flight may go on once the worker has told its activities to end. */
const LAST_GRACE_MS = 5_000;

/** The signals that end an example early. */
export interface Stops {
  /** Gives calls in flight up. */
  giveUp: AbortSignal;
  /** Ends waits in which no call is in flight: for a place, before a retry. */
  stopWaiting: AbortSignal;
}

/** When a batch is to stop. */
export interface BatchWatch extends Stops {
  /** Begins nothing more, and waits for nothing but calls in flight. */
  stop(): void;
  /** No more examples are to be begun. */
  stopped(): boolean;
  /** The batch has ended. */
  end(): void;
}

/** How far a batch is, as its heartbeats tell operators. */
export interface BatchHeartbeat {
  /** Examples that have their result, those of earlier attempts included. */
  done: number;
  of: number;
  /** Examples that failed in this attempt. */
  failed: number;
  inFlight: number;
  /** US dollars that the batch has cost as a budget counts it, earlier attempts included. */
  spentUsd: number;
  /** The numbers of the examples in flight that are set aside, since processes have ended while they ran. */
  setAside?: number[];
  /** Those that were so when a process ended. */
  warned?: readonly number[];
  /** Why calls wait and until when, and which scorers fail. */
  waits?: string[];
}

export interface BatchWatchOptions {
  /** Aborted when this process is asked to stop: the batch ends with the calls in flight, and another worker continues it. */
  stopping: AbortSignal;
  /** Whether the run has ended; asked once a second from when the batch is told to stop. */
  isOver: () => Promise<boolean>;
  /** What each heartbeat tells. */
  describe: () => BatchHeartbeat;
}

/**
 * Sends a batch's heartbeats and learns from them when it is to stop: it then begins no more examples. Calls in flight are
 * given up only where the run has ended or this process must end.
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
    // While the database is away, nobody has ended the run.
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
      // What ends in order has ended no process.
      context.heartbeat(describe());
      clearTimeout(lastGrace);
      stopping.removeEventListener('abort', stop);
    },
  };
}
