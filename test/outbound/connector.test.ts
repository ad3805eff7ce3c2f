import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type ConnectorOptions, createGuardedConnector } from '../../src/outbound/connector.ts';
import { closeAll, closing, startReceiver } from './support.ts';

afterEach(closeAll);

/** Connects as the HTTP client does, without any check of the URL before. */
function connect(
  options: Partial<ConnectorOptions>,
  target: { protocol: string; hostname: string; port: number },
): Promise<Socket> {
  const connector = createGuardedConnector({ allowPrivate: 'loopback', timeoutMs: 5_000, ...options });
  return new Promise((resolve, reject) => {
    connector({ ...target, port: String(target.port) }, (error, socket) =>
      error === null ? resolve(socket) : reject(error),
    );
  });
}

describe('a literal address, which needs no lookup, is checked on connection', () => {
  test.each([
    ['false', 'https:', '127.0.0.1', 'loopback', 'the address 127.0.0.1 is not allowed (loopback)'],
    ['false', 'https:', '::1', 'loopback', 'the address ::1 is not allowed (loopback)'],
    ['false', 'https:', '::ffff:7f00:1', 'loopback', 'the address ::ffff:7f00:1 is not allowed (loopback)'],
    ['loopback', 'https:', '10.0.0.1', 'private', 'the address 10.0.0.1 is not allowed (private)'],
    ['loopback', 'http:', '8.8.8.8', 'unencrypted', '8.8.8.8 is not on this machine'],
    ['true', 'http:', '169.254.169.254', 'link-local', 'the address 169.254.169.254 is not allowed (link-local)'],
    ['true', 'http:', '0.0.0.0', 'unspecified', 'the address 0.0.0.0 is not allowed (unspecified)'],
  ] as const)('%s, %s, %s', async (allowPrivate, protocol, hostname, refusal, message) => {
    const trap = closing(await startReceiver());
    await expect(connect({ allowPrivate }, { protocol, hostname, port: trap.port })).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
      refusal,
      message: expect.stringContaining(message),
    });
    expect(trap.connections).toBe(0);
  });

  test.each(['127.0.0.1', '::ffff:127.0.0.1'])('%s may be allowed', async (hostname) => {
    const receiver = closing(await startReceiver());
    const socket = await connect({}, { protocol: 'http:', hostname, port: receiver.port });
    expect(socket.remoteAddress).toMatch(/127\.0\.0\.1$/);
    socket.destroy();
  });
});
