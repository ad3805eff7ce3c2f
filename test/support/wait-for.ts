import { setTimeout as delay } from 'node:timers/promises';

/** Looks again and again until there is something truthy. @throws Error with `what` after `timeoutMs` */
export async function waitFor<T>(what: string, look: () => Promise<T>, timeoutMs = 20_000): Promise<NonNullable<T>> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > until) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
    await delay(25);
  }
}
