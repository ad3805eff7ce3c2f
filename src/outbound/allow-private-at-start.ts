import { type AllowPrivate, kindOfAddress } from './address-policy.ts';
import { isLocalName } from './target.ts';

/** What webhooks may reach, and what the operator should know of it. */
export interface StartPolicy {
  allowPrivate: AllowPrivate;
  /** In plain words; undefined where callers are on this machine, as receivers may be. */
  notice: string | undefined;
}

/**
 * Where everything runs on one machine, receivers under development are on it as well: they are allowed as long as callers are,
 * too. Where HOST lets others in, their webhooks would reach the services of this machine, so that is off unless it was set.
 * @param set `WEBHOOK_ALLOW_PRIVATE`; undefined where it was not set
 */
export function allowPrivateAtStart(host: string, set: AllowPrivate | undefined): StartPolicy {
  const isLocal = isLocalName(host) || kindOfAddress(host) === 'loopback';
  if (isLocal) return { allowPrivate: set ?? 'loopback', notice: undefined };
  const opened = `HOST=${host} lets other machines call the API.`;
  if (set === undefined)
    return {
      allowPrivate: 'false',
      notice: `${opened} So webhooks go to public addresses only; WEBHOOK_ALLOW_PRIVATE=loopback would let them reach services on this machine.`,
    };
  const reached = set === 'true' ? 'services on this machine and in its private networks' : 'services on this machine';
  return {
    allowPrivate: set,
    notice:
      set === 'false'
        ? undefined
        : `${opened} With WEBHOOK_ALLOW_PRIVATE=${set}, anyone with a key can reach ${reached} through a webhook.`,
  };
}
