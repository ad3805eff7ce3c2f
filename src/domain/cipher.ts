import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** Encrypts secrets before they are stored (AES-256-GCM), and signs data that callers bring back later (HMAC-SHA-256). */
export interface Cipher {
  encrypt(plain: Buffer): Buffer;
  /** @throws Error if no key fits or the data was changed */
  decrypt(encrypted: Buffer): Buffer;
  /** The first bytes of everything encrypted with the current key. */
  readonly currentPrefix: Buffer;
  /** 32 bytes. A signature for one purpose is not valid for another. */
  sign(purpose: string, data: Buffer): Buffer;
  /** Whether it was signed with one of the keys. */
  hasSigned(purpose: string, data: Buffer, signature: Buffer): boolean;
}

const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SIGNATURE_BYTES = 32;

/** No key does both: a signing key is derived for each purpose (HKDF, RFC 5869). */
const signingKey = (key: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `sign ${purpose}`, SIGNATURE_BYTES));

/** The first bytes of everything encrypted with a key: they identify the key without disclosing anything about it. */
export const keyIdOf = (key: Buffer): Buffer => createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES);

/** @param keys 32 bytes each: the first encrypts, all decrypt, so a key is rotated by prepending a new one */
export function createCipher(keys: Buffer[]): Cipher {
  const known = keys.map((key) => ({ key, id: keyIdOf(key) }));
  const [current] = known;
  if (current === undefined) throw new Error('No encryption key was given.');
  const signatureOf = (key: Buffer, purpose: string, data: Buffer) =>
    createHmac('sha256', signingKey(key, purpose)).update(data).digest();
  return {
    currentPrefix: current.id,
    sign: (purpose, data) => signatureOf(current.key, purpose, data),
    hasSigned: (purpose, data, signature) =>
      signature.length === SIGNATURE_BYTES &&
      known.some(({ key }) => timingSafeEqual(signatureOf(key, purpose, data), signature)),
    encrypt(plain) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce, { authTagLength: TAG_BYTES });
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([current.id, nonce, cipher.getAuthTag(), body]);
    },
    decrypt(encrypted) {
      const id = encrypted.subarray(0, KEY_ID_BYTES);
      const match = known.find((candidate) => candidate.id.equals(id));
      if (match === undefined) throw new Error('The encryption key used to store this value is not configured.');
      const nonce = encrypted.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
      const tagEnd = KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', match.key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAuthTag(encrypted.subarray(KEY_ID_BYTES + NONCE_BYTES, tagEnd));
      return Buffer.concat([decipher.update(encrypted.subarray(tagEnd)), decipher.final()]);
    },
  };
}
