import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import {
  generateSigningSecret,
  signedHeaders,
  signingSecretProblem,
  xSignature,
} from '../../../src/domain/webhooks/webhook-signature.ts';

const BODY = Buffer.from(
  '{"event":"prompt.created","data":{"prompt_name":"grüße/世界 🌍"},"timestamp":"2026-03-01T12:00:00.000Z"}',
);
const EVENT_ID = 'evt_0195510c-8a00-7000-8000-000000000001';
const DELIVERY_ID = 'dlv_0195510c-8a01-7000-8000-000000000002';
const OWN_BASE64 = 'c2lnbmluZyBzZWNyZXQgb2YgMzIgYnl0ZXMgaGVyZSE=';
const OWN_TEXT = 'a-secret-of-our-own-not-base64';

function headers(secrets: readonly [string, string?], sentAt = new Date(), body = BODY): Record<string, string> {
  return signedHeaders({ body, eventId: EVENT_ID, deliveryId: DELIVERY_ID, attempt: 1, sentAt, secrets });
}

test('a generated secret is whsec_ and 32 random bytes in base64', () => {
  const secret = generateSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  expect(generateSigningSecret()).not.toBe(secret);
  expect(signingSecretProblem(secret)).toBeUndefined();
});

test.each([
  ['24 characters', 'x'.repeat(24)],
  ['128 characters', 'x'.repeat(128)],
  ['every visible ASCII character', Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')],
  ['base64 without the prefix', OWN_BASE64],
  ['base64 after the prefix', `whsec_${OWN_BASE64}`],
  ['two padding characters', `whsec_${randomBytes(16).toString('base64')}`],
  ['text that only contains whsec_', 'my-whsec_-is-in-the-middle'],
])('a secret of %s is accepted', (_name, secret) => {
  expect(signingSecretProblem(secret)).toBeUndefined();
});

test.each([
  ['23 characters', 'x'.repeat(23), '24 to 128 characters; this secret has 23'],
  ['129 characters', 'x'.repeat(129), '24 to 128 characters; this secret has 129'],
  ['no characters', '', '24 to 128 characters; this secret has 0'],
  ['a space', `${'x'.repeat(24)} x`, 'visible ASCII'],
  ['a line end at the end', `${'x'.repeat(24)}\n`, 'visible ASCII'],
  ['DEL', `${'x'.repeat(24)}\x7f`, 'visible ASCII'],
  ['an umlaut', `${'x'.repeat(24)}ü`, 'visible ASCII'],
  ['the prefix and a text', 'whsec_this-is-not-base64-at-all', 'must be base64 with its padding'],
  ['the prefix and base64 without padding', `whsec_${OWN_BASE64.slice(0, -1)}`, 'must be base64 with its padding'],
  ['the prefix and URL-safe base64', `whsec_${'-_'.repeat(16)}`, 'standard alphabet'],
  ['the prefix and padding in the middle', `whsec_eA==${'x'.repeat(20)}`, 'must be base64'],
  ['the prefix and too much padding', `whsec_${'x'.repeat(21)}===`, 'must be base64'],
])('a secret with %s is refused', (_name, secret, problem) => {
  expect(signingSecretProblem(secret)).toContain(problem);
});

describe('values that other implementations computed', () => {
  // GitHub, "Validating webhook deliveries"
  test('X-Signature of a published example', () => {
    expect(xSignature(Buffer.from('Hello, World!'), "It's a Secret to Everybody")).toBe(
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    );
  });

  // RFC 4231, test case 2
  test('X-Signature of the RFC', () => {
    expect(xSignature(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
      'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  // Svix, "Verifying webhooks manually"
  test('webhook-signature of a published example', () => {
    const signed = signedHeaders({
      body: Buffer.from('{"test": 2432232314}'),
      eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      deliveryId: DELIVERY_ID,
      attempt: 1,
      sentAt: new Date(1_614_265_330_000),
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    });
    expect(signed['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  // openssl dgst -sha256 -hmac SECRET body, and -mac HMAC -macopt hexkey:… over "id.timestamp.body"
  test('all headers during an overlap, as openssl has them', () => {
    const signed = signedHeaders({
      body: BODY,
      eventId: EVENT_ID,
      deliveryId: DELIVERY_ID,
      attempt: 3,
      sentAt: new Date('2026-03-01T12:00:00.999Z'),
      secrets: [`whsec_${OWN_BASE64}`, OWN_TEXT],
    });
    expect(signed).toEqual({
      'Content-Type': 'application/json',
      'X-Signature': 'sha256=201a9a6492f9575ae1b76766b6fd12e5f16b3ab594a7a7ef1c981604733462c6',
      'X-Signature-Previous': 'sha256=5e52e40df5ac0ecd880fcbe9afd386340338b7370d3711d2a5aef6379f01af37',
      'X-Event-Id': EVENT_ID,
      'X-Delivery-Id': DELIVERY_ID,
      'X-Delivery-Attempt': '3',
      'webhook-id': EVENT_ID,
      'webhook-timestamp': '1772366400',
      'webhook-signature':
        'v1,YJOiditq204oDznWBBW5fWojvJIyRfR7U0KUtBBEJUo= v1,iNor9oGOsSvsH4r7dd6NafnR1m5rk8dkmCwVklfUr/A=',
    });
  });
});

test('without a rotation there is one signature of each kind', () => {
  const signed = headers([OWN_TEXT]);
  expect(signed).not.toHaveProperty('X-Signature-Previous');
  expect(signed['webhook-signature']).not.toContain(' ');
});

test.each([0, 1, 100_000])('X-Signature covers the exact bytes: %i random ones', (length) => {
  const body = randomBytes(length);
  const hex = createHmac('sha256', OWN_TEXT).update(body).digest('hex');
  expect(headers([OWN_TEXT], new Date(), body)['X-Signature']).toBe(`sha256=${hex}`);
});

const generated = generateSigningSecret();
const libraries = [
  { library: 'standardwebhooks', Webhook: StandardWebhook },
  { library: 'svix', Webhook: SvixWebhook },
];

describe.each(libraries)('$library', ({ Webhook }) => {
  test.each([
    ['a generated secret', generated],
    ['base64 after the prefix', `whsec_${OWN_BASE64}`],
    ['base64 without the prefix', OWN_BASE64],
    ['hexadecimal digits, which are base64 too', randomBytes(32).toString('hex')],
    ['base64 whose last bits are not 0', `${OWN_BASE64.slice(0, -2)}F=`],
  ])('verifies %s', (_name, secret) => {
    expect(() => new Webhook(secret).verify(BODY, headers([secret]))).not.toThrow();
    expect(() => new Webhook(secret).verify(BODY.toString(), headers([secret]))).not.toThrow();
  });

  test.each([
    ['a text', OWN_TEXT],
    ['visible ASCII of all sorts', '!"#$%&\'()*+,-./0:;<=>?@[]^_`{|}~'],
    ['base64 without its padding', OWN_BASE64.slice(0, -1)],
    ['URL-safe base64', '-_'.repeat(16)],
  ])('verifies %s in the format raw', (_name, secret) => {
    expect(() => new Webhook(secret, { format: 'raw' }).verify(BODY, headers([secret]))).not.toThrow();
  });

  test('verifies the old and the new secret during the overlap, and only the new one after it', () => {
    const [old, fresh] = [generated, generateSigningSecret()];
    const during = headers([fresh, old]);
    for (const secret of [old, fresh]) expect(() => new Webhook(secret).verify(BODY, during)).not.toThrow();
    const after = headers([fresh]);
    expect(() => new Webhook(fresh).verify(BODY, after)).not.toThrow();
    expect(() => new Webhook(old).verify(BODY, after)).toThrow('No matching signature');
    expect(() => new Webhook(generateSigningSecret()).verify(BODY, during)).toThrow('No matching signature');
  });

  test('verifies secrets of both kinds in one overlap', () => {
    const during = headers([generated, OWN_TEXT]);
    expect(() => new Webhook(generated).verify(BODY, during)).not.toThrow();
    expect(() => new Webhook(OWN_TEXT, { format: 'raw' }).verify(BODY, during)).not.toThrow();
  });

  test('refuses a changed byte, another id and an old or future timestamp', () => {
    const webhook = new Webhook(generated);
    const signed = headers([generated]);
    const changed = Buffer.from(BODY.toString().replace('created', 'updated'));
    expect(() => webhook.verify(changed, signed)).toThrow('No matching signature');
    expect(() => webhook.verify(BODY, { ...signed, 'webhook-id': `${EVENT_ID}0` })).toThrow('No matching signature');
    const later = String(Number(signed['webhook-timestamp']) + 1);
    expect(() => webhook.verify(BODY, { ...signed, 'webhook-timestamp': later })).toThrow('No matching signature');
    const minutes = (count: number) => new Date(Date.now() + count * 60_000);
    expect(() => webhook.verify(BODY, headers([generated], minutes(-4)))).not.toThrow();
    expect(() => webhook.verify(BODY, headers([generated], minutes(-6)))).toThrow('too old');
    expect(() => webhook.verify(BODY, headers([generated], minutes(6)))).toThrow('too new');
  });

  test.each([
    ['nothing but braces', {}],
    ['control characters and separators', { text: '\u{1F30D}\u2028\u0000\r\né' }],
    ['half a surrogate pair', { text: '\ud83c' }],
    ['many characters of three bytes', { text: '漢'.repeat(50_000) }],
  ])('verifies a body of %s', (_name, value) => {
    const body = Buffer.from(JSON.stringify(value));
    expect(() => new Webhook(generated).verify(body, headers([generated], new Date(), body))).not.toThrow();
  });
});

test('standardwebhooks returns what was sent', () => {
  expect(new StandardWebhook(generated).verify(BODY, headers([generated]))).toEqual(JSON.parse(BODY.toString()));
});
