import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createDownloader } from '../../src/outbound/download.ts';
import { createOwnServers } from '../../src/outbound/own-servers.ts';
import { closeAll, closing, outbound, post, resolvingTo, startReceiver } from './support.ts';

afterEach(closeAll);

/** A listener that represents a server of the service, which no caller's address may reach. */
async function ownServer(lookup = resolvingTo([]).lookup) {
  const trap = closing(await startReceiver());
  const own = createOwnServers(lookup);
  own.add(trap.port);
  return { trap, own };
}

const nonLoopback = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address);

describe.each(['loopback', 'true'] as const)("the service's own ports if %s is allowed", (allowPrivate) => {
  test.each(['127.0.0.1', 'localhost', '127.9.8.7', '[::1]', '[::ffff:127.0.0.1]', '2130706433'])(
    'at %s',
    async (host) => {
      const { trap, own } = await ownServer();
      const result = await post(outbound({ allowPrivate, own }), `http://${host}:${trap.port}/`);
      expect(result).toMatchObject({
        status: null,
        refused: true,
        error: expect.stringContaining("the service's own"),
      });
      const downloader = closing(createDownloader({ allowPrivate, own, timeoutMs: 5_000 }));
      const file = downloader.get(`http://${host}:${trap.port}/`, {
        maxBytes: 100,
        signal: new AbortController().signal,
      });
      await expect(file).rejects.toMatchObject({
        retryable: false,
        message: expect.stringContaining("the service's own"),
      });
      expect(trap.connections).toBe(0);
    },
  );

  test.each([['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1']])('by a name that resolves to %s', async (address) => {
    const { trap, own } = await ownServer();
    const { lookup, asked } = resolvingTo([address]);
    const result = await post(outbound({ allowPrivate, own, lookup }), `https://hooks.example.com:${trap.port}/`);
    expect(result.error).toBe("hooks.example.com is not allowed at this port, which is one of the service's own");
    expect(asked).toEqual(['hooks.example.com']);
    expect(trap.connections).toBe(0);
  });

  test('other ports are reached as before', async () => {
    const { own } = await ownServer();
    const receiver = closing(await startReceiver());
    expect(await post(outbound({ allowPrivate, own }), `http://127.0.0.1:${receiver.port}/`)).toMatchObject({
      status: 200,
    });
  });
});

test.each(nonLoopback.length > 0 ? nonLoopback : ['127.0.0.1'])(
  'this machine by its address %s in a private network',
  async (address) => {
    const { own, trap } = await ownServer();
    expect(await own.has([address], trap.port)).toBe(true);
    expect(await own.has([`::ffff:${address}`], trap.port)).toBe(true);
  },
);

test('a server on another machine is refused by its name and by its address, and its neighbours are not', async () => {
  const own = createOwnServers(resolvingTo(['10.0.0.5']).lookup);
  own.add(5432, 'db.internal');
  own.add(7233, '10.0.0.6');
  const to = (address: string) => outbound({ allowPrivate: 'true', own, lookup: resolvingTo([address]).lookup });
  expect(await post(to('10.0.0.5'), 'https://any.example.com:5432/')).toMatchObject({ refused: true });
  expect(await post(to('10.0.0.6'), 'https://any.example.com:7233/')).toMatchObject({ refused: true });
  expect(await own.has(['10.0.0.7'], 5432)).toBe(false);
  expect(await own.has(['10.0.0.5'], 443)).toBe(false);
});

test.each(['127.0.0.1', 'localhost'])(
  'if the addresses of this machine cannot be read, %s is not reached',
  async (host) => {
    const { trap, own } = await ownServer();
    const unreadable = { ...own, has: () => Promise.reject(new Error('the interfaces cannot be read')) };
    const result = await post(outbound({ allowPrivate: 'true', own: unreadable }), `http://${host}:${trap.port}/`);
    expect(result.status).toBeNull();
    expect(trap.connections).toBe(0);
  },
);
