const MIN_COME_BACK_MS = 500;
const MAX_COME_BACK_MS = 60_000;
/** What a visit is taken to last until one has ended. */
const FIRST_GUESS_MS = 250;
/** How much the newest visit counts in the moving average. */
const NEWEST_WEIGHT = 0.2;

/** Bounds how many requests of this process are under way to one host, so that a slow receiver holds up nobody else. */
export interface HostGate {
  /**
   * Asks to be let in to `host` (`host:port`). Some wait here for their turn; the others are told how long to stay away
   * before they ask again, each a little longer than the one before, at the pace at which the host is seen to serve.
   * Who waits and no longer wants to come in still has to take its turn and leave.
   *
   * @returns a function to call once when done, or how long to stay away, in ms (500 to 60,000)
   */
  enter(host: string): Promise<{ leave: () => void } | { comeBackInMs: number }>;
}

export interface HostGateOptions {
  /** How many may be inside at once, for each host. */
  concurrency: number;
  /** How many more wait for their turn, for each host. */
  waiting: number;
  /** A clock in ms, for tests. */
  now?: () => number;
}

/** A host that somebody is at. It is forgotten as soon as nobody is. */
interface Host {
  /** When each of those inside came in; the oldest is the first. */
  inside: Set<{ since: number }>;
  queue: (() => void)[];
  /** Moving average of how long visits last; null until one has ended. */
  visitMs: number | null;
  /** The time on the last ticket that was handed out. */
  lastTicketAt: number;
}

export function createHostGate({ concurrency, waiting, now = () => performance.now() }: HostGateOptions): HostGate {
  const hosts = new Map<string, Host>();

  function hostOf(name: string): Host {
    let host = hosts.get(name);
    if (host === undefined) {
      host = { inside: new Set(), queue: [], visitMs: null, lastTicketAt: 0 };
      hosts.set(name, host);
    }
    return host;
  }

  function letIn(name: string, host: Host): { leave: () => void } {
    const visit = { since: now() };
    host.inside.add(visit);
    return {
      leave() {
        if (!host.inside.delete(visit)) return;
        const lasted = now() - visit.since;
        host.visitMs = host.visitMs === null ? lasted : host.visitMs * (1 - NEWEST_WEIGHT) + lasted * NEWEST_WEIGHT;
        const next = host.queue.shift();
        if (next !== undefined) next();
        else if (host.inside.size === 0) hosts.delete(name);
      },
    };
  }

  /** How often a place becomes free: once in so many ms. */
  function paceMs({ visitMs, inside }: Host): number {
    const [oldest] = inside;
    const soFar = oldest === undefined ? 0 : now() - oldest.since;
    return (visitMs ?? Math.max(FIRST_GUESS_MS, soFar)) / concurrency;
  }

  /** The time after which those who wait here have been served, or after the last ticket, whichever is later. */
  function ticket(host: Host): number {
    const pace = paceMs(host);
    const at = now();
    const due = Math.max(at + MIN_COME_BACK_MS, at + (host.queue.length + 1) * pace, host.lastTicketAt + pace);
    if (due - at <= MAX_COME_BACK_MS) {
      host.lastTicketAt = due;
      return due - at;
    }
    // The line is longer than that. They will take another ticket then; until then they are spread out.
    return MAX_COME_BACK_MS * (0.5 + Math.random() / 2);
  }

  return {
    async enter(name) {
      const host = hostOf(name);
      if (host.inside.size < concurrency) return letIn(name, host);
      if (host.queue.length >= waiting) return { comeBackInMs: Math.ceil(ticket(host)) };
      const turn = Promise.withResolvers<{ leave: () => void }>();
      host.queue.push(() => turn.resolve(letIn(name, host)));
      return turn.promise;
    },
  };
}
