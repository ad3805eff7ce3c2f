import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Encrypts what is secret before it is stored (AES-256-GCM). */
export interface Cipher {
  encrypt(plain: Buffer): Buffer;
  /** @throws Error where no key fits or the data was changed */
  decrypt(encrypted: Buffer): Buffer;
  /** The first bytes of everything that the current key has encrypted. */
  readonly currentPrefix: Buffer;
}

const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * @param keys 32 bytes each: the first encrypts, all decrypt, so that a key is rotated by putting a new one first
 */
export function createCipher(keys: Buffer[]): Cipher {
  const known = keys.map((key) => ({ key, id: createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES) }));
  const [current] = known;
  if (current === undefined) throw new Error('No encryption key was given.');
  return {
    currentPrefix: current.id,
    encrypt(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce, { authTagLength: TAG_BYTES });
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([current.id, nonce, cipher.getAuthTag(), body]);
    },
    decrypt(encrypted) {
      const id = encrypted.subarray(0, KEY_ID_BYTES);
      const match = known.find((candidate) => candidate.id.equals(id));
      if (match === undefined) throw new Error('The encryption key that this was stored with is not configured.');
      const nonce = encrypted.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
      const tagEnd = KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', match.key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(encrypted.subarray(KEY_ID_BYTES + NONCE_BYTES, tagEnd));
      return Buffer.concat([decipher.update(encrypted.subarray(tagEnd)), decipher.final()]);
    },
  };
}
