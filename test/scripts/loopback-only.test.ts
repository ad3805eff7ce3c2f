import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { run } from '../../scripts/python.ts';

const preload = new URL('../../scripts/loopback-only.ts', import.meta.url).href;
// Addresses reserved for documentation (RFC 5737, RFC 2606).
const PROGRAM = `
import { lookup, promises as dns } from 'node:dns';
import net from 'node:net';
const codeOf = (begin) => new Promise((resolve) => begin((error) => resolve(error?.code ?? 'done')));
const connect = (...args) => codeOf((done) => { const socket = net.connect(...args, () => { socket.destroy(); done(); }).on('error', done); });
const server = net.createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
console.log(JSON.stringify({
  lookup: await codeOf((done) => lookup('example.com', done)),
  promised: await dns.lookup('example.com').catch(({ code }) => code),
  resolver: await new dns.Resolver().resolve4('example.com').catch(({ code }) => code),
  name: await connect({ host: 'example.com', port: 9 }),
  address: await connect(9, '192.0.2.1'),
  ipv6: await connect({ host: '2001:db8::1', port: 9 }),
  fetch: await fetch('http://192.0.2.1/').catch(({ cause }) => cause.code),
  here: await connect({ host: 'localhost', port: server.address().port }),
}));
server.close();
`;

test('a process limited to this machine looks nothing up and connects nowhere else', async () => {
  const { code, output } = await run(
    process.execPath,
    ['--import', preload, '--input-type=module', '--eval', PROGRAM],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    },
  );
  const refused = ['lookup', 'promised', 'resolver', 'name', 'address', 'ipv6', 'fetch'].map((name) => [
    name,
    'ENOTFOUND',
  ]);
  expect({ code, ...JSON.parse(output) }).toEqual({ code: 0, ...Object.fromEntries(refused), here: 'done' });
});
