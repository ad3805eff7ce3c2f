import { SignatureError } from './errors.ts';
import type {
  EvaluationCompletedData,
  EvaluationRegressionData,
  ExecutionCompletedData,
  ExecutionFailedData,
  ImprovementCompletedData,
  ImprovementFailedData,
  MonitorEventData,
  PromptEventData,
  ReleaseEventData,
  TraceEventData,
} from './generated/types.gen.ts';
import { webCrypto } from './platform.ts';

/** The `data` of each event. */
interface EventData {
  'prompt.created': PromptEventData;
  'prompt.updated': PromptEventData;
  'execution.completed': ExecutionCompletedData;
  'execution.failed': ExecutionFailedData;
  'evaluation.completed': EvaluationCompletedData;
  'evaluation.regression': EvaluationRegressionData;
  'release.started': ReleaseEventData;
  'release.awaiting_approval': ReleaseEventData;
  'release.promoted': ReleaseEventData;
  'release.rolled_back': ReleaseEventData;
  'release.finished': ReleaseEventData;
  'improvement.completed': ImprovementCompletedData;
  'improvement.failed': ImprovementFailedData;
  'monitor.alerted': MonitorEventData;
  'monitor.recovered': MonitorEventData;
  'trace.completed': TraceEventData;
}

/** The body of a webhook request: `event` determines `data`. The event's id is in the header `webhook-id`. */
export type WebhookEvent = {
  [Type in keyof EventData]: { event: Type; data: EventData[Type]; timestamp: string };
}[keyof EventData];

type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const TOLERANCE_SECONDS = 300;
const PREFIX = 'whsec_';
const PADDED_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function headerOf(headers: HeaderSource, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  for (const [key, value] of Object.entries(headers))
    if (key.toLowerCase() === name) return typeof value === 'string' ? value : value?.[0];
  return undefined;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** The key from a secret, derived like the service and the libraries for Standard Webhooks do. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  return PADDED_BASE64.test(encoded) ? bytesOf(encoded) : new TextEncoder().encode(secret);
}

/**
 * Verifies by the `webhook-*` headers (https://www.standardwebhooks.com) that a webhook request is from the service,
 * unmodified, and not replayed.
 *
 * @param request `body`: as received, before any parsing. `secret`: of the webhook; several during a rotation.
 * `toleranceSeconds`: maximum age or clock difference. Default: 300
 * @returns the event
 * @throws SignatureError
 */
export async function verifyWebhook({
  body,
  headers,
  secret,
  toleranceSeconds = TOLERANCE_SECONDS,
  now = new Date(),
}: {
  body: string | Uint8Array;
  headers: HeaderSource;
  secret: string | readonly string[];
  toleranceSeconds?: number;
  now?: Date;
}): Promise<WebhookEvent> {
  const refuse = (why: string) => new SignatureError('invalid_signature', why);
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !timestamp || !signatures)
    throw refuse('The headers webhook-id, webhook-timestamp and webhook-signature are required.');
  if (!/^\d{1,12}$/.test(timestamp)) throw refuse('The header webhook-timestamp must be seconds since 1970.');
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw refuse(`The request was signed more than ${toleranceSeconds} s from now: check the clock of this machine.`);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  const given = signatures.split(' ').flatMap((each) => {
    const encoded = each.startsWith('v1,') ? each.slice(3) : '';
    return encoded !== '' && PADDED_BASE64.test(encoded) ? [bytesOf(encoded)] : [];
  });
  const { subtle } = await webCrypto();
  for (const each of typeof secret === 'string' ? [secret] : secret) {
    const key = await subtle.importKey('raw', keyOf(each), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    // `verify` runs in constant time.
    for (const signature of given) if (await subtle.verify('HMAC', key, signature, signed)) return JSON.parse(text);
  }
  throw refuse('No signature of the request is valid: check that the secret belongs to the webhook.');
}
