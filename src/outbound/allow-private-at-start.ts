import { type AllowPrivate, kindOfAddress } from './address-policy.ts';
import { isLocalName } from './target.ts';

/** The address policy for webhooks, with a notice for the operator. */
export interface StartPolicy {
  allowPrivate: AllowPrivate;
  /** In plain words; undefined if both callers and receivers are limited to this machine. */
  notice: string | undefined;
}

/**
 * If everything runs on one machine, receivers under development run there as well: they are allowed as long as callers are
 * local, too. If HOST admits other machines, their webhooks could reach the services of this machine, so it is off unless set
 * explicitly.
 * @param set `WEBHOOK_ALLOW_PRIVATE`; undefined if not set
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
