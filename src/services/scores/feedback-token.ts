import { parse, stringify } from 'uuid';
import { z } from 'zod';
import type { Cipher } from '../../domain/cipher.ts';
import { scoreNameProblem } from '../../domain/scores/score-name.ts';
import type { ScoreSubject } from '../../domain/scores/score-subject.ts';

export type GrantedSubject = Exclude<ScoreSubject, { evaluationId: string }>;

/** What the holder of a token can do: submit these scores of this subject until the expiry. */
export interface FeedbackGrant {
  workspaceId: string;
  subject: GrantedSubject;
  names: readonly string[];
  expiresAt: Date;
}

const PREFIX = 'pmsf_';
const PURPOSE = 'feedback';
/** Format for an execution, whose id follows the workspace's. */
const OF_EXECUTION = 1;
/** Format for another subject, in a line of JSON before the names. */
const OF_OTHERS = 2;
const OtherSubject = z.union([
  z.strictObject({ traceId: z.string(), spanId: z.string().nullable() }),
  z.strictObject({ conversationId: z.string() }),
]);
const UUID_BYTES = 16;
const SECONDS_BYTES = 6;
const SIGNATURE_BYTES = 32;
/** The maximum number of names in a token. */
export const MAX_TOKEN_NAMES = 10;
/** The maximum length of a token; longer ones are not parsed. */
const MAX_TOKEN_LENGTH = 4_096;

const headBytes = (format: number | undefined) => 1 + (format === OF_EXECUTION ? 2 : 1) * UUID_BYTES + SECONDS_BYTES;

/** Seconds since 1970; a token is valid until this second starts. */
const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000);

/**
 * Creates a token for submitting scores of one subject: `pmsf_` and the base64url of format, ids, expiry, names and signature.
 * It is not stored.
 */
export function createFeedbackToken(cipher: Cipher, { workspaceId, subject, names, expiresAt }: FeedbackGrant): string {
  const seconds = Buffer.alloc(SECONDS_BYTES);
  seconds.writeUIntBE(secondsOf(expiresAt), 0, SECONDS_BYTES);
  const ofExecution = 'executionId' in subject;
  const head = ofExecution
    ? [Buffer.from([OF_EXECUTION]), parse(workspaceId), parse(subject.executionId), seconds]
    : [Buffer.from([OF_OTHERS]), parse(workspaceId), seconds];
  const lines = ofExecution ? names : [JSON.stringify(subject), ...names];
  const signed = Buffer.concat([...head, Buffer.from(lines.join('\n'))]);
  return PREFIX + Buffer.concat([cipher.sign(PURPOSE, signed), signed]).toString('base64url');
}

/** What a token grants; undefined if this service did not issue it, or it was modified or has expired. Makes no calls. */
export function readFeedbackToken(cipher: Cipher, token: string, now = new Date()): FeedbackGrant | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !token.startsWith(PREFIX)) return undefined;
  const body = token.slice(PREFIX.length);
  const bytes = Buffer.from(body, 'base64url');
  const head = headBytes(bytes[SIGNATURE_BYTES]);
  // Each token has only one valid encoding.
  if (bytes.toString('base64url') !== body || bytes.length <= SIGNATURE_BYTES + head) return undefined;
  const signed = bytes.subarray(SIGNATURE_BYTES);
  const format = signed[0];
  if (!cipher.hasSigned(PURPOSE, signed, bytes.subarray(0, SIGNATURE_BYTES))) return undefined;
  if (format !== OF_EXECUTION && format !== OF_OTHERS) return undefined;
  const expires = signed.readUIntBE(head - SECONDS_BYTES, SECONDS_BYTES);
  if (expires <= secondsOf(now)) return undefined;
  const lines = signed.subarray(head).toString().split('\n');
  const subject: GrantedSubject =
    format === OF_EXECUTION
      ? { executionId: stringify(signed.subarray(1 + UUID_BYTES, 1 + 2 * UUID_BYTES)) }
      : OtherSubject.parse(JSON.parse(lines.shift() ?? ''));
  if (lines.some((name) => scoreNameProblem(name) !== undefined)) return undefined;
  const workspaceId = stringify(signed.subarray(1, 1 + UUID_BYTES));
  return { workspaceId, subject, names: lines, expiresAt: new Date(expires * 1000) };
}
