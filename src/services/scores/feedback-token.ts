import { parse, stringify } from 'uuid';
import type { Cipher } from '../../domain/cipher.ts';
import { scoreNameProblem } from '../../domain/scores/score-name.ts';

/** What the holder of a token can do: submit these scores of this execution until the expiry. */
export interface FeedbackGrant {
  workspaceId: string;
  executionId: string;
  names: readonly string[];
  expiresAt: Date;
}

const PREFIX = 'pmsf_';
const PURPOSE = 'feedback';
const FORMAT = 1;
const UUID_BYTES = 16;
const SECONDS_BYTES = 6;
const HEAD_BYTES = 1 + 2 * UUID_BYTES + SECONDS_BYTES;
const SIGNATURE_BYTES = 32;
/** The maximum number of names in a token. */
export const MAX_TOKEN_NAMES = 10;
/** The maximum length of a token; longer ones are not parsed. */
const MAX_TOKEN_LENGTH = 4_096;

/** Seconds since 1970; a token is valid until this second starts. */
const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000);

/**
 * Creates a token for submitting scores of one execution: `pmsf_` and the base64url of format, ids, expiry, names and signature.
 * It is not stored.
 */
export function createFeedbackToken(
  cipher: Cipher,
  { workspaceId, executionId, names, expiresAt }: FeedbackGrant,
): string {
  const seconds = Buffer.alloc(SECONDS_BYTES);
  seconds.writeUIntBE(secondsOf(expiresAt), 0, SECONDS_BYTES);
  const head = Buffer.concat([Buffer.from([FORMAT]), parse(workspaceId), parse(executionId), seconds]);
  const signed = Buffer.concat([head, Buffer.from(names.join('\n'))]);
  return PREFIX + Buffer.concat([cipher.sign(PURPOSE, signed), signed]).toString('base64url');
}

/** What a token grants; undefined if this service did not issue it, or it was modified or has expired. Makes no calls. */
export function readFeedbackToken(cipher: Cipher, token: string, now = new Date()): FeedbackGrant | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !token.startsWith(PREFIX)) return undefined;
  const body = token.slice(PREFIX.length);
  const bytes = Buffer.from(body, 'base64url');
  // Each token has only one valid encoding.
  if (bytes.toString('base64url') !== body || bytes.length <= SIGNATURE_BYTES + HEAD_BYTES) return undefined;
  const signed = bytes.subarray(SIGNATURE_BYTES);
  if (!cipher.hasSigned(PURPOSE, signed, bytes.subarray(0, SIGNATURE_BYTES)) || signed[0] !== FORMAT) return undefined;
  const expires = signed.readUIntBE(HEAD_BYTES - SECONDS_BYTES, SECONDS_BYTES);
  if (expires <= secondsOf(now)) return undefined;
  const names = signed.subarray(HEAD_BYTES).toString().split('\n');
  if (names.some((name) => scoreNameProblem(name) !== undefined)) return undefined;
  return {
    workspaceId: stringify(signed.subarray(1, 1 + UUID_BYTES)),
    executionId: stringify(signed.subarray(1 + UUID_BYTES, 1 + 2 * UUID_BYTES)),
    names,
    expiresAt: new Date(expires * 1000),
  };
}
