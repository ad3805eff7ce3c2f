import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAccess } from '../../src/codec-server/access.ts';
import { startCodecServer } from '../../src/codec-server/main.ts';
import { parseSettings } from '../../src/config.ts';
import type { RunningServer } from '../../src/http/http-server.ts';

const TOKEN = randomBytes(20).toString('hex');
const UI = 'https://temporal.example.com';
const SETTINGS = {
  TEMPORAL_PAYLOAD_KEYS: randomBytes(32).toString('base64'),
  CODEC_SERVER_TOKEN: TOKEN,
  CODEC_SERVER_PORT: '0',
  TRUST_PROXY: 'true',
  TEMPORAL_UI_URL: `${UI}/namespaces`,
};
const base64 = (text: string) => Buffer.from(text).toString('base64');
const PAYLOADS = { payloads: [{ metadata: { encoding: base64('json/plain') }, data: base64('"hello"') }] };

let server: RunningServer;
beforeAll(async () => {
  server = await startCodecServer(parseSettings(SETTINGS));
});
afterAll(() => server?.close(1_000));

async function ask(path: string, body: unknown, headers: Record<string, string> = {}, method = 'POST') {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

test('it decodes what it encoded as ciphertext', async () => {
  const encoded = await ask('/encode', PAYLOADS);
  expect(encoded.status).toBe(200);
  expect(encoded.body.payloads[0].metadata.encoding).toBe(base64('binary/encrypted'));
  expect(JSON.stringify(encoded.body)).not.toContain(base64('"hello"'));
  expect((await ask('/decode', encoded.body)).body).toEqual(PAYLOADS);
});

test('plaintext is decoded to itself, even without data', async () => {
  const plain = { payloads: [...PAYLOADS.payloads, { metadata: { encoding: base64('binary/null') } }] };
  expect((await ask('/decode', plain)).body).toEqual(plain);
});

test.each([
  ['no JSON', '{'],
  ['no payloads', {}],
  ['invalid base64', { payloads: [{ data: '!' }] }],
  [
    'an unknown key',
    { payloads: [{ metadata: { encoding: base64('binary/encrypted'), 'encryption-key-id': base64('0') } }] },
  ],
  ['more than 8 MiB', { payloads: [{ data: base64('x'.repeat(8 * 1024 * 1024)) }] }],
])('%s is a 400', async (_name, body) => {
  const answer = await ask('/decode', body);
  expect(answer.status).toBe(400);
  expect(answer.body.error.message).toMatch(/\w/);
});

test('a changed payload is a 400', async () => {
  const { body } = await ask('/encode', PAYLOADS);
  const data = Buffer.from(body.payloads[0].data, 'base64');
  data.writeUInt8(data.readUInt8(data.length - 1) ^ 1, data.length - 1);
  const changed = { payloads: [{ ...body.payloads[0], data: data.toString('base64') }] };
  expect((await ask('/decode', changed)).status).toBe(400);
});

test.each<[string, Record<string, string>]>([
  ['nothing', { Authorization: '' }],
  ['no token', { Authorization: 'Bearer' }],
  ['another token', { Authorization: 'Bearer wrong' }],
  ['another scheme', { Authorization: `Basic ${TOKEN}` }],
  ['the token alone', { Authorization: TOKEN }],
  ['an empty session', { Authorization: '', Cookie: 'pms_codec=' }],
  ['a session without a signature', { Authorization: '', Cookie: `pms_codec=${Date.now() + 60_000}.` }],
  [
    'a session that was not signed here',
    { Authorization: '', Cookie: `pms_codec=${Date.now() + 60_000}.${randomBytes(32).toString('base64url')}` },
  ],
])('showing %s gives a 401', async (_name, headers) => {
  expect((await ask('/decode', PAYLOADS, headers)).status).toBe(401);
});

const signIn = (token: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${server.port}/sign-in`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ token }),
  });

test('a person signs in on a page, and requests of Temporal’s UI then have a cookie', async () => {
  const page = await fetch(`http://127.0.0.1:${server.port}/`);
  expect(page.headers.get('Content-Security-Policy')).toMatch(/default-src 'none'.*form-action 'self'/);
  expect(await page.text()).toContain('<form method="post" action="/sign-in">');
  const refused = await signIn('wrong');
  expect([refused.status, refused.headers.get('Set-Cookie')]).toEqual([401, null]);
  expect((await signIn('x'.repeat(5_000))).status).toBe(400);
  const signedIn = await signIn(TOKEN);
  expect(signedIn.status).toBe(200);
  const [cookie = '', ...attributes] = signedIn.headers.get('Set-Cookie')?.split('; ') ?? [];
  expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Strict']));
  expect(cookie).not.toContain(TOKEN);
  const asUi = { Authorization: '', Origin: UI, Cookie: `other=1; ${cookie}` };
  const answer = await ask('/decode', PAYLOADS, asUi);
  expect([answer.status, answer.body]).toEqual([200, PAYLOADS]);
  expect(answer.headers.get('Access-Control-Allow-Credentials')).toBe('true');
  // HTTPS has a separate cookie, which only HTTPS sends.
  const byHttps = await signIn(TOKEN, { 'X-Forwarded-Proto': 'https' });
  expect(byHttps.headers.get('Set-Cookie')).toMatch(/^__Host-pms_codec=.*; Secure$/);
});

test('a session ends after twelve hours', () => {
  let now = Date.now();
  const access = createAccess(TOKEN, false, () => now);
  const cookie = access.cookieFor({ headers: {} } as IncomingMessage).split(';', 1)[0];
  const isAllowed = () => access.isAllowed({ headers: { cookie } } as IncomingMessage);
  expect(isAllowed()).toBe(true);
  now += 13 * 60 * 60 * 1_000;
  expect(isAllowed()).toBe(false);
});

test('nothing else exists', async () => {
  expect((await ask('/', PAYLOADS)).status).toBe(404);
  expect((await ask('/decode/x', PAYLOADS)).status).toBe(404);
  expect((await ask('/decode', PAYLOADS, {}, 'GET')).status).toBe(404);
});

test("only pages of Temporal's UI can call it", async () => {
  const preflight = { 'Access-Control-Request-Method': 'POST', Origin: UI };
  const allowed = await ask('/decode', undefined, preflight, 'OPTIONS');
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get('Access-Control-Allow-Origin')).toBe(UI);
  expect(allowed.headers.get('Access-Control-Allow-Headers')).toMatch(/Authorization.*X-Namespace/);
  expect((await ask('/decode', PAYLOADS, { Origin: UI })).headers.get('Access-Control-Allow-Origin')).toBe(UI);
  for (const Origin of ['https://example.com', 'null', `${UI}.example.com`]) {
    const other = await ask('/decode', undefined, { ...preflight, Origin }, 'OPTIONS');
    expect([other.status, other.headers.get('Access-Control-Allow-Origin')]).toEqual([401, null]);
    expect((await ask('/decode', PAYLOADS, { Origin })).status).toBe(401);
  }
});

test('it does not start without keys and a token, and says so', async () => {
  await expect(startCodecServer(parseSettings({}))).rejects.toThrow(/TEMPORAL_PAYLOAD_KEYS.*CODEC_SERVER_TOKEN/s);
});
