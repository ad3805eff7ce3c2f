import { afterEach, expect, test } from '@jest/globals';
import {
  type Certificate,
  closeAll,
  closing,
  outbound,
  post,
  resolvingTo,
  startReceiver,
  testAuthority,
} from './support.ts';

afterEach(closeAll);

async function postTo(certificate: Certificate, host: string, ca: string | undefined = testAuthority()) {
  const receiver = closing(await startReceiver(undefined, certificate));
  const to = outbound({ ca, lookup: resolvingTo(['127.0.0.1']).lookup });
  return { receiver, result: await post(to, `https://${host}:${receiver.port}/`) };
}

test.each(['localhost', 'receiver.test', '127.0.0.1'])('a certificate for %s is fine', async (host) => {
  const { result } = await postTo('good', host);
  expect(result).toMatchObject({ status: 200, error: null });
});

test.each<[Certificate, string, string]>([
  ['expired', 'receiver.test', 'certificate expired'],
  ['self-signed', 'receiver.test', 'certificate is self-signed'],
  ['other-host', 'receiver.test', 'certificate is not valid for this host'],
  ['other-host', '127.0.0.1', 'certificate is not valid for this host'],
  ['good', 'elsewhere.test', 'certificate is not valid for this host'],
])('%s, for %s: %s', async (certificate, host, error) => {
  const { receiver, result } = await postTo(certificate, host);
  expect(result).toMatchObject({ status: null, body: null, error });
  expect(receiver.requests).toEqual([]);
});

test('an untrusted certificate is refused', async () => {
  const receiver = closing(await startReceiver(undefined, 'good'));
  expect(await post(outbound(), `https://localhost:${receiver.port}/`)).toMatchObject({
    status: null,
    error: 'certificate of an unknown authority',
  });
  expect(receiver.requests).toEqual([]);
});

test('a resumed connection belongs to the same host', async () => {
  const receiver = closing(
    await startReceiver((_request, response) => response.writeHead(200, { connection: 'close' }).end(), 'good'),
  );
  const to = outbound({ ca: testAuthority(), lookup: resolvingTo(['127.0.0.1']).lookup });
  for (let round = 0; round < 2; round += 1) {
    expect(await post(to, `https://receiver.test:${receiver.port}/`)).toMatchObject({ status: 200 });
    expect(await post(to, `https://elsewhere.test:${receiver.port}/`)).toMatchObject({
      error: 'certificate is not valid for this host',
    });
  }
});

test('missing TLS is not taken for missing HTTP', async () => {
  const plain = closing(await startReceiver());
  expect(await post(outbound(), `https://127.0.0.1:${plain.port}/`)).toMatchObject({ error: 'TLS handshake failed' });
  const encrypted = closing(await startReceiver(undefined, 'good'));
  const { status, error } = await post(outbound(), `http://127.0.0.1:${encrypted.port}/`);
  expect(status).toBeNull();
  expect(error).toMatch(
    /^(the connection was closed before the response was complete|not an HTTP response|connection reset)$/,
  );
});

test('only HTTP/1.1 is used', async () => {
  const seen = Promise.withResolvers<string>();
  const receiver = closing(
    await startReceiver((request, response) => {
      seen.resolve(request.httpVersion);
      response.end();
    }, 'good'),
  );
  await post(outbound({ ca: testAuthority() }), `https://localhost:${receiver.port}/`);
  expect(await seen.promise).toBe('1.1');
});
