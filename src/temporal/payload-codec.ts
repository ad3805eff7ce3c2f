import { hkdfSync, randomBytes } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { type Payload, type PayloadCodec, ValueError } from '@temporalio/common';
import proto from '@temporalio/proto';
import { type Cipher, createCipher, keyIdOf } from '../domain/cipher.ts';
import type { PayloadKeys } from '../lib/setting-values.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/** A payload cannot be decrypted: its key is missing, or it was modified. `message` names the key and the setting. */
export class PayloadDecryptionError extends ValueError {
  override readonly name = 'PayloadDecryptionError';
}

const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();

const KEY_BYTES = 32;
const SALT_BYTES = 16;

/**
 * Derives a key for one payload (HKDF, RFC 5869). So a key can encrypt any number of payloads, its id is bound to them, and a key
 * mistakenly reused as `ENCRYPTION_KEY` does not open what the other one encrypted.
 */
const cipherOf = (key: Buffer, id: string, salt: Buffer): Cipher =>
  createCipher([Buffer.from(hkdfSync('sha256', key, salt, `temporal payload ${id}`, KEY_BYTES))]);

function encrypt(payload: Payload, key: Buffer, id: string): Payload {
  const salt = randomBytes(SALT_BYTES);
  const plain = Buffer.from(PayloadMessage.encode(payload).finish());
  return {
    metadata: { encoding: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(id) },
    data: Buffer.concat([salt, cipherOf(key, id, salt).encrypt(plain)]),
  };
}

/** The id of the key that encrypted a payload; undefined if it is not encrypted. */
const encryptedBy = ({ metadata }: Payload): string | undefined =>
  textOf(metadata?.['encoding']) === ENCRYPTED ? textOf(metadata?.[KEY_ID]) : undefined;

function decrypt({ data }: Payload, id: string, keys: Map<string, Buffer>): Payload {
  const key = keys.get(id);
  if (key === undefined)
    throw new PayloadDecryptionError(
      `A payload is encrypted with the key ${JSON.stringify(id.slice(0, 64))}, which is not in TEMPORAL_PAYLOAD_KEYS: put that key back, behind the others.`,
    );
  const encrypted = Buffer.from(data ?? []);
  try {
    const cipher = cipherOf(key, id, encrypted.subarray(0, SALT_BYTES));
    return PayloadMessage.decode(cipher.decrypt(encrypted.subarray(SALT_BYTES)));
  } catch (cause) {
    throw new PayloadDecryptionError(
      `A payload that names the key ${id} can't be decrypted with it: the payload was changed.`,
      { cause },
    );
  }
}

/** A codec with details beyond the SDK's interface. */
interface KeyedCodec extends PayloadCodec {
  /** The id of the encrypting key; undefined if there is none. */
  readonly currentKeyId: string | undefined;
}

/**
 * Encrypts whole payloads, including metadata, with AES-256-GCM: `encoding` becomes `binary/encrypted`, and `encryption-key-id`
 * names the key. Decrypts payloads of every configured key, and leaves unencrypted payloads unchanged.
 *
 * @param payloadKeys undefined for none: nothing is encrypted, and encrypted payloads are rejected
 */
export function createPayloadCodec({ encrypts, keys }: PayloadKeys = { encrypts: false, keys: [] }): KeyedCodec {
  const byId = new Map(keys.map((key) => [keyIdOf(key).toString('hex'), key]));
  const [[id, key] = []] = encrypts ? byId : [];
  return {
    currentKeyId: id,
    encode: async (payloads) =>
      id === undefined || key === undefined ? payloads : payloads.map((payload) => encrypt(payload, key, id)),
    /** @throws PayloadDecryptionError */
    decode: async (payloads) =>
      payloads.map((payload) => {
        const by = encryptedBy(payload);
        return by === undefined ? payload : decrypt(payload, by, byId);
      }),
  };
}

/** Whether a payload is encrypted as this client would do it now: with the same key, or not at all. */
export function isEncryptedAsNow({ options }: Client, payload: Payload): boolean {
  const codec = options.loadedDataConverter.payloadCodecs.find((each) => 'currentKeyId' in each) as
    | KeyedCodec
    | undefined;
  return encryptedBy(payload) === codec?.currentKeyId;
}
