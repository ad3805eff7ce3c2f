import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { runAssert, type ScorerAssert, type SentExample } from './run-assert.ts';

// The program of a scorer written by `pms import promptfoo --scorer-project`. It serves the evaluator `http` of the service.

const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_REASON_LENGTH = 500;
/** As recommended by Standard Webhooks. */
const MAX_AGE_SECONDS = 5 * 60;

/** The content of `asserts.json`. */
interface Project {
  parsesJson: boolean;
  asserts: Record<string, ScorerAssert>;
}

/** @throws Error if it is longer than `MAX_BODY_BYTES` */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new Error('too long');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** The key from a secret, following Standard Webhooks: decoded if it is base64. */
function keyOf(secret: string): Buffer {
  const encoded = secret.replace(/^whsec_/, '');
  const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded);
  return isBase64 ? Buffer.from(encoded, 'base64') : Buffer.from(secret);
}

/** Whether the service signed this body recently. */
function isSigned({ headers }: IncomingMessage, body: Buffer, secret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= MAX_AGE_SECONDS)) return false;
  const hmac = createHmac('sha256', keyOf(secret))
    .update(`${[id, timestamp].join('.')}.`)
    .update(body);
  const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
  return String(signatures)
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
}

const home = path.dirname(fileURLToPath(import.meta.url));
const { parsesJson, asserts } = JSON.parse(await readFile(path.join(home, 'asserts.json'), 'utf8')) as Project;
const secret = process.env['SCORER_SECRET'] ?? '';
if (secret.length < 24) throw new Error('Set SCORER_SECRET to the secret of the evaluators: 24 characters or more.');

async function respond(request: IncomingMessage): Promise<{ status: number; answer: unknown }> {
  const body = await bodyOf(request).catch(() => undefined);
  if (body === undefined) return { status: 413, answer: { error: 'the body is too long' } };
  if (!isSigned(request, body, secret)) return { status: 401, answer: { error: 'the signature is not right' } };
  const id = request.url?.split('/').at(-1) ?? '';
  const assert = Object.hasOwn(asserts, id) ? asserts[id] : undefined;
  if (request.method !== 'POST' || assert === undefined) return { status: 404, answer: { error: 'no such assert' } };
  const example = JSON.parse(body.toString()) as SentExample;
  const { pass, score, reason } = await runAssert(assert, example, { folder: path.join(home, 'files'), parsesJson });
  const sent = assert.countsScores === true ? Math.min(1, Math.max(0, score)) : Number(pass);
  return { status: 200, answer: { score: sent, reason: sent === 1 ? null : reason.slice(0, MAX_REASON_LENGTH) } };
}

const server = createServer(async (request, response) => {
  const { status, answer } = await respond(request).catch((error: unknown) => {
    console.error(error);
    return { status: 500, answer: { error: 'the scorer failed' } };
  });
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
});
server.listen(Number(process.env['PORT'] ?? 8080), () => {
  console.log(`listening on port ${(server.address() as AddressInfo).port}`);
});
