import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { LookupFunction } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createDnsLookup, systemLookup } from '../../src/outbound/lookup.ts';
import { closeAll, closing, outbound, post, startReceiver } from './support.ts';

afterEach(closeAll);

const A = 1;
const AAAA = 28;
const NO_SUCH_NAME = 3;
const SERVER_FAILED = 2;

/** The addresses of a name by kind of query, or an error code; undefined for no response. */
type Zone = (name: string, kind: number) => Buffer[] | number | undefined;

/** A minimal DNS server on 127.0.0.1 (RFC 1035). */
async function startDns(zone: Zone): Promise<{ server: string; close(): Promise<void> }> {
  const socket: Socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const kind = query.readUInt16BE(at + 1);
    const found = zone(labels.join('.'), kind);
    if (found === undefined) return;
    const addresses = typeof found === 'number' ? [] : found;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((address) => {
      const record = Buffer.from([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, address.length]);
      return Buffer.concat([record, address]);
    });
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function lookUp(lookup: LookupFunction, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });
}

async function resolverOf(zone: Zone): Promise<LookupFunction> {
  const dns = closing(await startDns(zone));
  return createDnsLookup([dns.server]);
}

const IPV4 = Buffer.from([203, 0, 113, 7]);
const IPV6 = Buffer.from([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);

describe('the DNS', () => {
  test('is asked for both kinds of addresses', async () => {
    const lookup = await resolverOf((_name, kind) => (kind === A ? [IPV4, IPV4] : [IPV6]));
    expect(await lookUp(lookup, 'both.test')).toEqual([
      { address: '203.0.113.7', family: 4 },
      { address: '203.0.113.7', family: 4 },
      { address: '2001:db8::7', family: 6 },
    ]);
  });

  test('can know only one kind', async () => {
    const v4 = await resolverOf((_name, kind) => (kind === A ? [IPV4] : []));
    expect(await lookUp(v4, 'v4.test')).toEqual([{ address: '203.0.113.7', family: 4 }]);
    const v6 = await resolverOf((_name, kind) => (kind === AAAA ? [IPV6] : SERVER_FAILED));
    expect(await lookUp(v6, 'v6.test')).toEqual([{ address: '2001:db8::7', family: 6 }]);
  });

  test.each([
    ['no such name', NO_SUCH_NAME, 'ENOTFOUND'],
    ['no address', [], 'ENOTFOUND'],
    ['a failure', SERVER_FAILED, 'EAI_AGAIN'],
  ])('%s: %j is %s', async (_what, answer, code) => {
    await expect(lookUp(await resolverOf(() => answer), 'gone.test')).rejects.toMatchObject({ code });
  });

  test('without an answer ends at the limit of the request', async () => {
    const to = outbound({ timeoutMs: 300, lookup: await resolverOf(() => undefined) });
    expect(await post(to, 'https://slow.test/')).toMatchObject({ status: null, error: 'timed out after 0.3 s' });
  });

  test('can name this machine, which is then refused or not like any other', async () => {
    const receiver = closing(await startReceiver());
    const lookup = await resolverOf((_name, kind) => (kind === A ? [Buffer.from([127, 0, 0, 1])] : []));
    const url = `https://sneaky.test:${receiver.port}/`;
    expect(await post(outbound({ allowPrivate: 'false', lookup }), url)).toMatchObject({
      error: 'sneaky.test resolves to an address that is not allowed (loopback)',
    });
    expect(receiver.connections).toBe(0);
    expect(await post(outbound({ lookup }), url)).toMatchObject({ error: 'TLS handshake failed' });
  });
});

describe('the system', () => {
  test.each(['localhost', 'localhost.', 'nobody-set-this-up.localhost'])('knows %s as this machine', async (name) => {
    const addresses = await lookUp(systemLookup, name);
    expect(addresses).toContainEqual({
      address: expect.stringMatching(/^(127\.\d+\.\d+\.\d+|::1)$/),
      family: expect.any(Number),
    });
  });

  test('is asked if this machine is allowed', async () => {
    const receiver = closing(await startReceiver());
    expect(await post(outbound(), `http://any.localhost:${receiver.port}/`)).toMatchObject({
      status: 200,
      error: null,
    });
  });
});
