import { setTimeout as delay } from 'node:timers/promises';
import { CHANNELS, type Listener } from '../db/listener.ts';
import { dispatchEvents } from './dispatch-events.ts';
import { endWorkflows, type RelayDeps, startUnstarted } from './relay-steps.ts';

/** A notification may be lost while the connection is down: the tables are read this often all the same. */
const LOOK_AGAIN_MS = 5_000;
/** While the deliveries of a workspace wait for those in flight, it is looked at this often. */
const SATURATED_MS = 200;
/** After a failure, whose cause is likely to last for a while. */
const TRY_AGAIN_MS = 1_000;

/**
 * Relays from the database to Temporal: starts the workflows of deliveries, of new events and of requests, and signals those of
 * deliveries that were abandoned. Notifications wake it. Several may run at once.
 */
export function startRelay(deps: RelayDeps & { listener: Listener }): { stop(): Promise<void> } {
  const stopping = new AbortController();
  // Which statements to run. Most events have no webhook, and need only the first.
  const due = { events: true, deliveries: true };
  let wakeUp = () => {};
  const wake = (what: Partial<typeof due>) => {
    Object.assign(due, what);
    wakeUp();
  };
  deps.listener.on(CHANNELS.eventWritten, () => wake({ events: true }));
  deps.listener.on(CHANNELS.deliveryChanged, () => wake({ deliveries: true }));
  deps.listener.onReconnected(() => wake({ events: true, deliveries: true }));

  async function relayWhatIsDue(): Promise<void> {
    if (due.events) {
      due.events = false;
      const { more, madeAny } = await dispatchEvents(deps);
      if (more) due.events = true;
      if (madeAny) due.deliveries = true;
    }
    if (due.deliveries) {
      due.deliveries = false;
      const more = [await startUnstarted(deps), await endWorkflows(deps)];
      if (more.includes(true)) due.deliveries = true;
    }
  }

  async function sleep(): Promise<void> {
    const woken = new AbortController();
    wakeUp = () => woken.abort();
    const signal = AbortSignal.any([woken.signal, stopping.signal]);
    await delay(deps.saturated?.().length ? SATURATED_MS : LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
    if (!woken.signal.aborted) wake({ events: true, deliveries: true });
  }

  // An outage is logged when it begins and when it is over, not every second in between.
  let isFailing = false;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await relayWhatIsDue();
        if (isFailing) deps.log.info('relaying events again');
        isFailing = false;
        if (!due.events && !due.deliveries) await sleep();
      } catch (error) {
        deps.log[isFailing ? 'debug' : 'warn']({ err: error }, 'cannot relay events at present; trying again');
        isFailing = true;
        await delay(TRY_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => {});
        wake({ events: true, deliveries: true });
      }
    }
  })();

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
