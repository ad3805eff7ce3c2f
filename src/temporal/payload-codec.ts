import { type Payload, type PayloadCodec, ValueError } from '@temporalio/common';
import proto from '@temporalio/proto';
import { type Cipher, createCipher, keyIdOf } from '../domain/cipher.ts';
import type { PayloadKeys } from '../lib/setting-values.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/** A payload can't be decrypted: its key is missing, or it was changed. `message` names the key and the setting. */
export class PayloadDecryptionError extends ValueError {
  override readonly name = 'PayloadDecryptionError';
}

const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();

function encrypt(payload: Payload, cipher: Cipher): Payload {
  return {
    metadata: {
      encoding: Buffer.from(ENCRYPTED),
      [KEY_ID]: Buffer.from(cipher.currentPrefix.toString('hex')),
    },
    data: cipher.encrypt(Buffer.from(PayloadMessage.encode(payload).finish())),
  };
}

function decrypt({ metadata, data }: Payload, ciphers: Map<string, Cipher>): Payload {
  const id = textOf(metadata?.[KEY_ID]);
  const cipher = ciphers.get(id);
  if (cipher === undefined)
    throw new PayloadDecryptionError(
      `A payload is encrypted with the key ${JSON.stringify(id.slice(0, 64))}, which is not in TEMPORAL_PAYLOAD_KEYS: put that key back, behind the others.`,
    );
  try {
    return PayloadMessage.decode(cipher.decrypt(Buffer.from(data ?? [])));
  } catch (cause) {
    throw new PayloadDecryptionError(
      `A payload that names the key ${id} can't be decrypted with it: the payload was changed.`,
      { cause },
    );
  }
}

/**
 * Encrypts whole payloads, with their metadata, by AES-256-GCM: `encoding` is then `binary/encrypted`, and `encryption-key-id`
 * says by which key. Decrypts those of every key it has, and leaves payloads that are not encrypted as they are.
 *
 * @param payloadKeys undefined: none, so that nothing is encrypted, and what is encrypted is refused
 */
export function createPayloadCodec({ encrypts, keys }: PayloadKeys = { encrypts: false, keys: [] }): PayloadCodec {
  const ciphers = new Map(keys.map((key) => [keyIdOf(key).toString('hex'), createCipher([key])]));
  const [first] = ciphers.values();
  const current = encrypts ? first : undefined;
  return {
    encode: async (payloads) =>
      current === undefined ? payloads : payloads.map((payload) => encrypt(payload, current)),
    /** @throws PayloadDecryptionError */
    decode: async (payloads) =>
      payloads.map((payload) =>
        textOf(payload.metadata?.['encoding']) === ENCRYPTED ? decrypt(payload, ciphers) : payload,
      ),
  };
}
