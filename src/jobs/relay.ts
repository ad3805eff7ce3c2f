import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CHANNELS, type Listener } from '../db/listener.ts';
import { dispatchEvents } from './dispatch-events.ts';
import { createFirstAttempts, type FirstAttemptDeps } from './first-attempts.ts';
import { beginFirstAttempts, endWorkflows, type RelayDeps } from './relay-steps.ts';

/** A notification may be lost while the connection is down: the tables are also polled at this interval. */
const POLL_AGAIN_MS = 5_000;
/** While the deliveries of a workspace wait for those in flight, they are polled at this interval. */
const SATURATED_MS = 200;
/** The pause after a failure, whose cause is likely to last for a while. */
const TRY_AGAIN_MS = 1_000;
/**
 * After an outage of the database, the results of attempts that wait for it are stored within this time. Until then no expired
 * claim is taken over, because its attempt may have been made.
 */
const SETTLE_MS = 3_000;

interface Loop {
  wake(): void;
  /** Stops after the step in progress. */
  stop(): Promise<void>;
}

/**
 * Runs a step until it reports that there is no more to do, and again when it is woken or after a rest.
 * @param restMs how long to rest unless woken
 */
function startLoop(log: Logger, what: string, step: () => Promise<boolean>, restMs = () => POLL_AGAIN_MS): Loop {
  const stopping = new AbortController();
  let isDue = true;
  let wakeUp = () => {};

  async function rest(): Promise<void> {
    if (stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, restMs());
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  // An outage is logged when it starts and when it ends, not every second in between.
  let isFailing = false;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        isDue = false;
        if (await step()) isDue = true;
        if (isFailing) log.info(`${what} works again`);
        isFailing = false;
        if (!isDue) await rest();
      } catch (error) {
        log[isFailing ? 'debug' : 'warn']({ err: error }, `${what} failed; trying again`);
        isFailing = true;
        await delay(TRY_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  })();

  return {
    wake() {
      isDue = true;
      wakeUp();
    },
    async stop() {
      stopping.abort();
      wakeUp();
      await running;
    },
  };
}

export interface RelayOptions extends FirstAttemptDeps, Omit<RelayDeps, 'firstAttempts'> {
  listener: Listener;
  /** Aborted when a stopping process no longer waits for attempts in progress. */
  graceOver: AbortSignal;
}

/**
 * Relays events to webhooks: creates the deliveries of new events, makes their first attempts, and signals the workflows of abandoned
 * deliveries. Each loop continues while another waits, for example for Temporal. Notifications wake them. Several relays may run concurrently.
 */
export function startRelay(options: RelayOptions): { stop(): Promise<void> } {
  const { listener, log, saturated, graceOver } = options;
  const firstAttempts = createFirstAttempts(options, () => attempts.wake());
  const deps = { ...options, firstAttempts };

  let lookedAt = Date.now();
  let settledAt = Date.now() + SETTLE_MS;
  async function makeFirstAttempts(): Promise<boolean> {
    if (Date.now() - lookedAt > POLL_AGAIN_MS + TRY_AGAIN_MS) settledAt = Date.now() + SETTLE_MS;
    const more = await beginFirstAttempts(deps, Date.now() >= settledAt);
    lookedAt = Date.now();
    return more;
  }

  async function makeDeliveries(): Promise<boolean> {
    const { more, madeAny } = await dispatchEvents(deps);
    // Most events have no webhook.
    if (madeAny) attempts.wake();
    return more;
  }

  const isSaturated = () => (saturated?.().length ?? 0) + firstAttempts.saturated().length > 0;
  const restMs = () => {
    if (isSaturated()) return SATURATED_MS;
    const untilSettledMs = settledAt - Date.now();
    return untilSettledMs > 0 ? untilSettledMs : POLL_AGAIN_MS;
  };
  const attempts = startLoop(log, 'making first attempts', makeFirstAttempts, restMs);
  const events = startLoop(log, 'relaying events', makeDeliveries);
  const endings = startLoop(log, 'ending workflows', () => endWorkflows(deps));

  listener.on(CHANNELS.eventWritten, () => events.wake());
  listener.on(CHANNELS.deliveryChanged, () => {
    attempts.wake();
    endings.wake();
  });
  listener.onReconnected(() => {
    for (const loop of [events, attempts, endings]) loop.wake();
  });

  return {
    async stop() {
      const stopped = Promise.all([events.stop(), attempts.stop(), endings.stop()]).then(() => firstAttempts.stop());
      const expired = new Promise<void>((resolve) => {
        if (graceOver.aborted) resolve();
        else graceOver.addEventListener('abort', () => resolve(), { once: true });
      });
      await Promise.race([stopped, expired]);
    },
  };
}
