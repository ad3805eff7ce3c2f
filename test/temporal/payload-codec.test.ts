import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { createCipher, keyIdOf } from '../../src/domain/cipher.ts';
import { createPayloadCodec } from '../../src/temporal/payload-codec.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const idOf = (key: Buffer) => keyIdOf(key).toString('hex');
const codecOf = (...keys: Buffer[]) => createPayloadCodec({ encrypts: true, keys });
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const valuesOf = (payloads: Payload[]) => payloads.map((each) => defaultPayloadConverter.fromPayload(each));
const bytesOf = ({ data }: Payload) => Buffer.from(data ?? []);

async function encrypted(value: unknown, key = first): Promise<Payload> {
  const [payload = {}] = await codecOf(key).encode([payloadOf(value)]);
  return payload;
}

test('ciphertext reveals neither the value, its encoding, nor two equal values', async () => {
  const codec = codecOf(first);
  const payloads = await codec.encode([payloadOf('secret'), payloadOf('secret'), {}]);
  const [one = {}, other = {}] = payloads;
  for (const text of ['secret', 'json/plain']) expect(bytesOf(one).toString('latin1')).not.toContain(text);
  expect(bytesOf(one).equals(bytesOf(other))).toBe(false);
  expect(Object.keys(one.metadata ?? {}).sort()).toEqual(['encoding', 'encryption-key-id']);
  const decoded = await codec.decode(payloads);
  expect(valuesOf(decoded.slice(0, 2))).toEqual(['secret', 'secret']);
  expect(bytesOf(decoded[2] ?? {})).toHaveLength(0);
});

test('the first key encrypts, all decrypt, and plaintext is read unchanged', async () => {
  const rotated = codecOf(second, first);
  const [fresh = {}] = await rotated.encode([payloadOf('new')]);
  expect(Buffer.from(fresh.metadata?.['encryption-key-id'] ?? []).toString()).toBe(idOf(second));
  const mixed = [await encrypted('old'), fresh, payloadOf('plain')];
  expect(valuesOf(await rotated.decode(mixed))).toEqual(['old', 'new', 'plain']);
});

test('with "none" in front nothing is encrypted, but ciphertext is read', async () => {
  const codec = createPayloadCodec({ encrypts: false, keys: [first] });
  const plain = [payloadOf('plain')];
  expect(await codec.encode(plain)).toEqual(plain);
  expect(valuesOf(await codec.decode([await encrypted('old')]))).toEqual(['old']);
});

test.each([
  ['another key', codecOf(second)],
  ['no keys', createPayloadCodec()],
])('with %s, the error names the key and the setting', async (_name, codec) => {
  const decoding = codec.decode([await encrypted('secret')]);
  await expect(decoding).rejects.toThrow(new RegExp(`"${idOf(first)}".*TEMPORAL_PAYLOAD_KEYS`));
});

test('a changed or cut payload, or one with another key name, is refused', async () => {
  const { metadata = {}, ...payload } = await encrypted('secret');
  const data = bytesOf(payload);
  const changed = (at: number) => {
    const copy = Buffer.from(data);
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy;
  };
  const renamed = { ...metadata, 'encryption-key-id': Buffer.from(idOf(second)) };
  const wrong: Payload[] = [
    ...data.keys().map((at) => ({ metadata, data: changed(at) })),
    ...data.keys().map((length) => ({ metadata, data: data.subarray(0, length) })),
    { metadata, data: null },
    { metadata: renamed, data },
  ];
  const codec = codecOf(first, second);
  for (const each of wrong) await expect(codec.decode([each])).rejects.toThrow('the payload was changed');
});

test('a key with another use, too, decrypts none of it', async () => {
  const metadata = { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from(idOf(first)) };
  const stored = createCipher([first]).encrypt(Buffer.from('a secret of a webhook'));
  await expect(codecOf(first).decode([{ metadata, data: stored }])).rejects.toThrow('was changed');
});
