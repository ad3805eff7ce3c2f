import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const VISIBLE_ASCII = /^[\x21-\x7e]*$/;
const PADDED_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function generateSigningSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/**
 * What is wrong with a caller's secret and how to correct it; undefined if it is valid: 24–128 visible ASCII characters, and
 * padded base64 in the standard alphabet after the prefix `whsec_`, if any.
 */
export function signingSecretProblem(secret: string): string | undefined {
  if (!VISIBLE_ASCII.test(secret)) return 'Use only visible ASCII characters, without spaces or line breaks.';
  if (secret.length < 24 || secret.length > 128) return `Use 24 to 128 characters; this secret has ${secret.length}.`;
  if (secret.startsWith(PREFIX) && !PADDED_BASE64.test(secret.slice(PREFIX.length)))
    return `The part after ${PREFIX} must be base64 with its padding, in the standard alphabet (openssl rand -base64 32); or leave out ${PREFIX}.`;
  return undefined;
}

/**
 * `sha256=` and the lowercase hexadecimal HMAC-SHA256 of the raw body, keyed with the UTF-8 bytes of the whole secret, including
 * its prefix (specification, Authentication 2).
 */
export function xSignature(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** A request to a caller's endpoint, to be signed. */
export interface SignedRequest {
  body: Buffer;
  /** Stays the same when a request is sent again. */
  id: string;
  sentAt: Date;
  /** Newest first; a second one is the previous secret during the overlap after a rotation. */
  secrets: readonly [string, string?];
}

/**
 * The headers of every signed request. Their names are written as documented, because some receivers show them as sent; compare
 * them case-insensitively when merging.
 *
 * The `webhook-*` headers are those of Standard Webhooks (https://www.standardwebhooks.com).
 */
export function signatureHeaders({ body, id, sentAt, secrets }: SignedRequest): Record<string, string> {
  const [newest, previous] = secrets;
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const standard = (secret: string) => standardSignature(body, id, timestamp, secret);
  return {
    'Content-Type': 'application/json',
    'X-Signature': xSignature(body, newest),
    ...(previous !== undefined && { 'X-Signature-Previous': xSignature(body, previous) }),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': previous === undefined ? standard(newest) : `${standard(newest)} ${standard(previous)}`,
  };
}

/** All headers of one delivery attempt. */
export function signedHeaders({
  eventId,
  deliveryId,
  attempt,
  ...request
}: Omit<SignedRequest, 'id'> & {
  /** `evt_…`: the same on every attempt and delivery of the event */
  eventId: string;
  /** `dlv_…` */
  deliveryId: string;
  /** from 1 */
  attempt: number;
}): Record<string, string> {
  return {
    ...signatureHeaders({ ...request, id: eventId }),
    'X-Event-Id': eventId,
    'X-Delivery-Id': deliveryId,
    'X-Delivery-Attempt': String(attempt),
  };
}

function standardSignature(body: Buffer, id: string, timestamp: string, secret: string): string {
  const hmac = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

/**
 * The key that the libraries for Standard Webhooks derive from a secret: if the part after `whsec_` is padded base64, its decoded
 * bytes, like `new Webhook(secret)` of standardwebhooks 1.1.1 (svix 2.5.0 wraps that class); otherwise the secret's own bytes,
 * like `new Webhook(secret, { format: 'raw' })`.
 *
 * Their decoder also accepts base64 without padding. Here that is ordinary text: most other decoders refuse it.
 */
function standardKey(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  return PADDED_BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(secret, 'utf8');
}
