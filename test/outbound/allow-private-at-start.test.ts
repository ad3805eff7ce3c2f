import { expect, test } from '@jest/globals';
import { allowPrivateAtStart } from '../../src/outbound/allow-private-at-start.ts';

test.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost', '::ffff:127.0.0.1'])('%s admits no one else', (host) => {
  expect(allowPrivateAtStart(host, undefined)).toEqual({ allowPrivate: 'loopback', notice: undefined });
  expect(allowPrivateAtStart(host, 'false').allowPrivate).toBe('false');
});

test.each(['0.0.0.0', '::', '192.168.1.2', 'pms.example.com'])(
  'with HOST=%s webhooks reach this machine only if that was set, and the start says so',
  (host) => {
    expect(allowPrivateAtStart(host, undefined)).toEqual({
      allowPrivate: 'false',
      notice: expect.stringContaining('public addresses only'),
    });
    for (const set of ['loopback', 'true'] as const)
      expect(allowPrivateAtStart(host, set)).toEqual({
        allowPrivate: set,
        notice: expect.stringContaining('services on this machine'),
      });
    expect(allowPrivateAtStart(host, 'false')).toEqual({ allowPrivate: 'false', notice: undefined });
  },
);
