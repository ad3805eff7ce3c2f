import { getDefaultAutoSelectFamily, type LookupFunction, setDefaultAutoSelectFamily } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeAll, closing, outbound, post, resolvingTo, startReceiver, testAuthority } from './support.ts';

afterEach(closeAll);

function failed(error: string) {
  return { status: null, body: null, error, refused: false, durationMs: expect.any(Number) };
}

function refused(error: string) {
  return { ...failed(error), refused: true };
}

test('the checked address is the connected one: a name is looked up once per connection', async () => {
  const receiver = closing(await startReceiver());
  // A second lookup returns another address.
  const dns = resolvingTo(['127.0.0.1'], ['169.254.169.254']);
  const to = outbound({ lookup: dns.lookup });
  const url = `https://rebind.test:${receiver.port}/`;
  // It is not an HTTPS server; the connection itself is what counts.
  expect(await post(to, url)).toMatchObject({ error: 'TLS handshake failed' });
  expect(dns.asked).toEqual(['rebind.test']);
  expect(receiver.connections).toBe(1);
});

test('a name that resolves elsewhere later is refused then', async () => {
  const receiver = closing(
    await startReceiver((_request, response) => response.writeHead(204, { connection: 'close' }).end()),
  );
  const dns = resolvingTo(['127.0.0.1'], ['169.254.169.254']);
  const to = outbound({ lookup: dns.lookup });
  const url = `http://rebind.test:${receiver.port}/`;
  expect(await post(outbound({ allowPrivate: 'true', lookup: dns.lookup }), url)).toMatchObject({ status: 204 });
  await receiver.idle();
  expect(await post(to, `https://rebind.test:${receiver.port}/`)).toEqual(
    refused('rebind.test resolves to an address that is not allowed (link-local)'),
  );
  expect(dns.asked).toHaveLength(2);
  expect(receiver.connections).toBe(1);
});

test('a name that looks public and resolves to this machine is refused', async () => {
  const trap = closing(await startReceiver());
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    const to = outbound({ allowPrivate: 'false', lookup: resolvingTo([address]).lookup });
    expect(await post(to, `https://hooks.example.com:${trap.port}/`)).toEqual(
      refused('hooks.example.com resolves to an address that is not allowed (loopback)'),
    );
  }
  expect(trap.connections).toBe(0);
});

test.each([
  [['127.0.0.1', '10.0.0.1'], 'private'],
  [['10.0.0.1', '127.0.0.1'], 'private'],
  [['127.0.0.1', '::1', 'fe80::1'], 'link-local'],
  [['127.0.0.1', '64:ff9b::a9fe:a9fe'], 'reserved'],
])('one refused address of several (%j) refuses the name', async (addresses, kind) => {
  const trap = closing(await startReceiver());
  const to = outbound({ lookup: resolvingTo(addresses).lookup });
  expect(await post(to, `https://many.test:${trap.port}/`)).toEqual(
    refused(`many.test resolves to an address that is not allowed (${kind})`),
  );
  expect(trap.connections).toBe(0);
});

test('the reason does not reveal the address', async () => {
  const to = outbound({ allowPrivate: 'false', lookup: resolvingTo(['10.20.30.40']).lookup });
  const { error } = await post(to, 'https://internal.test/path?query');
  expect(error).toBe('internal.test resolves to an address that is not allowed (private)');
});

test.each(['10.0.0.1', '8.8.8.8', '169.254.169.254'])(
  'by plain http a name can resolve only to this machine, not to %s',
  async (address) => {
    // `*.localhost` can be registered; its resolved address is checked here.
    const to = outbound({ lookup: resolvingTo([address]).lookup });
    const { status, error } = await post(to, 'http://receiver.localhost/');
    expect(status).toBeNull();
    expect(error).toMatch(/not allowed \((private|link-local)\)$|^receiver\.localhost is not on this machine, so/);
  },
);

test('all addresses are checked even if only the first is used', async () => {
  const trap = closing(await startReceiver());
  const usual = getDefaultAutoSelectFamily();
  setDefaultAutoSelectFamily(false);
  try {
    const bad = outbound({ lookup: resolvingTo(['127.0.0.1', '10.0.0.1']).lookup });
    expect(await post(bad, `http://one.localhost:${trap.port}/`)).toMatchObject({
      error: 'one.localhost resolves to an address that is not allowed (private)',
    });
    expect(trap.connections).toBe(0);
    const good = outbound({ lookup: resolvingTo(['127.0.0.1', '::1']).lookup });
    expect(await post(good, `http://one.localhost:${trap.port}/`)).toMatchObject({ status: 200, error: null });
  } finally {
    setDefaultAutoSelectFamily(usual);
  }
});

test('several addresses of this machine are fine', async () => {
  const receiver = closing(await startReceiver());
  const to = outbound({ lookup: resolvingTo(['::1', '127.0.0.1']).lookup });
  expect(await post(to, `http://any.localhost:${receiver.port}/`)).toMatchObject({ status: 200, error: null });
});

describe('an address that was never checked before', () => {
  test.each([
    ['false', 'https://127.0.0.1:PORT/', 'the address 127.0.0.1 is not allowed (loopback)'],
    ['false', 'https://2130706433:PORT/', 'the address 127.0.0.1 is not allowed (loopback)'],
    ['false', 'https://0177.1:PORT/', 'the address 127.0.0.1 is not allowed (loopback)'],
    ['false', 'https://[::1]:PORT/', 'the address ::1 is not allowed (loopback)'],
    ['false', 'https://localhost:PORT/', 'the address localhost is not allowed (loopback)'],
    ['false', 'http://example.com:PORT/', 'the address must begin with https://'],
    ['loopback', 'http://10.0.0.1:PORT/', 'the address 10.0.0.1 is not allowed (private)'],
    ['loopback', 'http://user:pass@127.0.0.1:PORT/', 'the address must not contain a user name or password'],
    ['loopback', 'http://127.0.0.1:PORT/#x', 'the address must not have a fragment'],
    ['loopback', 'http://127.0.0.1:6000/', 'the port 6000 is not allowed'],
    ['true', 'http://169.254.169.254/latest', 'the address 169.254.169.254 is not allowed (link-local)'],
    ['true', 'gopher://127.0.0.1:PORT/', 'the address must begin with https://'],
    ['true', 'nonsense', 'the address is not a valid URL'],
  ] as const)('is checked before it is called (%s, %s)', async (allowPrivate, url, problem) => {
    const trap = closing(await startReceiver());
    const result = await post(outbound({ allowPrivate }), url.replace('PORT', String(trap.port)));
    expect(result).toMatchObject({ status: null, body: null, error: expect.stringContaining(problem) });
    expect(trap.connections).toBe(0);
  });
});

describe('lookups that fail', () => {
  function failing(code: string): LookupFunction {
    return (_hostname, _options, callback) => {
      setImmediate(() => callback(Object.assign(new Error('secret'), { code }), []));
    };
  }

  test.each([
    ['ENOTFOUND', 'host name not found'],
    ['EAI_AGAIN', 'host name could not be looked up'],
    ['ESOMETHING', 'the request failed (ESOMETHING)'],
    ['so: http://x/secret', 'the request failed'],
  ])('%s: %s', async (code, reason) => {
    expect(await post(outbound({ lookup: failing(code) }), 'https://gone.test/')).toEqual(failed(reason));
  });

  test('no address at all is a name not found', async () => {
    const to = outbound({ lookup: resolvingTo([]).lookup });
    expect(await post(to, 'https://gone.test/')).toEqual(failed('host name not found'));
  });
});

test('a redirect is not followed', async () => {
  const trap = closing(await startReceiver());
  for (const status of [301, 302, 303, 307, 308]) {
    const receiver = closing(
      await startReceiver((_request, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${trap.port}/` }).end('moved'),
      ),
    );
    expect(await post(outbound(), `http://127.0.0.1:${receiver.port}/`)).toMatchObject({
      status,
      body: 'moved',
      error: `HTTP ${status} (redirects are not followed)`,
    });
  }
  expect(trap.connections).toBe(0);
});

test('proxies in the environment are not used', async () => {
  const proxy = closing(await startReceiver());
  const receiver = closing(await startReceiver());
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  const before = names.map((name) => [name, process.env[name]] as const);
  try {
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    process.env['NODE_USE_ENV_PROXY'] = '1';
    expect(await post(outbound(), `http://127.0.0.1:${receiver.port}/`)).toMatchObject({ status: 200 });
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  expect(proxy.connections).toBe(0);
});

test('the target of a request depends on its URL, not on its headers', async () => {
  const seen = Promise.withResolvers<unknown>();
  const receiver = closing(
    await startReceiver((request, response) => {
      seen.resolve(request.headers);
      response.end();
    }, 'good'),
  );
  const to = outbound({ ca: testAuthority() });
  const { error } = await to.post({
    url: `https://localhost:${receiver.port}/`,
    headers: { Host: 'other.test', 'Accept-Encoding': 'gzip', 'x-own': 'kept' },
    body: Buffer.from(''),
  });
  expect(error).toBeNull();
  expect(await seen.promise).toMatchObject({
    host: `localhost:${receiver.port}`,
    'accept-encoding': 'identity',
    'x-own': 'kept',
    'content-length': '0',
  });
});
