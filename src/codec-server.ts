import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { type Settings, SettingsError } from './config.ts';
import { ApiError } from './domain/errors.ts';
import { listen, type RunningServer } from './http/http-server.ts';
import { parseJson, readJsonBytes } from './http/json-body.ts';
import { errorBody, toApiError } from './http/middleware/error-responses.ts';
import { STATUS_OF_CODE } from './http/status.ts';
import { runProcess } from './lifecycle.ts';
import { createPayloadCodec, PayloadDecryptionError } from './temporal/payload-codec.ts';

/** Temporal's own limit of one message is 4 MiB; in base64, with some room. */
const MAX_CODEC_BYTES = 8 * 1024 * 1024;
/** What Temporal's UI sends beside what every page may. */
const UI_HEADERS = 'Authorization, Authorization-Extras, Content-Type, X-Namespace';
const GRACE_MS = 1_000;

const Base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));

/** Payloads as protobuf has them in JSON. */
const Body = z.object({
  payloads: z.array(z.looseObject({ metadata: z.record(z.string(), Base64).optional(), data: Base64.optional() })),
});

const toJson = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  ),
  ...(data != null && { data: Buffer.from(data).toString('base64') }),
});

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/** @throws ApiError `unauthorized` */
function requireToken({ headers }: IncomingMessage, token: string): void {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(digestOf(given), digestOf(token)))
    throw new ApiError('unauthorized', 'Send the header "Authorization: Bearer <CODEC_SERVER_TOKEN>".');
}

/** @throws ApiError `invalid_request`, `payload_too_large` */
async function readPayloads(request: IncomingMessage): Promise<Payload[]> {
  const { data, error } = Body.safeParse(await parseJson(await readJsonBytes(request, MAX_CODEC_BYTES)));
  if (data !== undefined) return data.payloads.map(({ metadata, data: bytes }) => ({ metadata, data: bytes }));
  const { path = [], message = '' } = error.issues[0] ?? {};
  throw new ApiError(
    'invalid_request',
    `Send {"payloads": [{"metadata": …, "data": …}]}: ${path.join('.')} ${message}`,
  );
}

async function convert(request: IncomingMessage, { codec, token }: { codec: PayloadCodec; token: string }) {
  const operation = /^\/(decode|encode)(?:\?|$)/.exec(request.url ?? '')?.[1] as 'decode' | 'encode' | undefined;
  if (operation === undefined || request.method !== 'POST')
    throw new ApiError('not_found', 'There are only POST /decode and POST /encode.');
  requireToken(request, token);
  const payloads = await readPayloads(request);
  try {
    return { payloads: (await codec[operation](payloads)).map(toJson) };
  } catch (error) {
    if (error instanceof PayloadDecryptionError) throw new ApiError('invalid_request', error.message);
    throw error;
  }
}

/** Lets pages of Temporal's UI read the responses. @returns whether the request only asked for that */
function answerPreflight(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): boolean {
  response.setHeader('Vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || !origins.includes(origin)) return false;
  response.setHeader('Access-Control-Allow-Origin', origin);
  if (request.method !== 'OPTIONS') return false;
  response.setHeader('Access-Control-Allow-Methods', 'POST');
  response.setHeader('Access-Control-Allow-Headers', UI_HEADERS);
  response.writeHead(204).end();
  return true;
}

/** Where Temporal's UI is, as browsers write it in `Origin`. */
function originsOf({ uiUrl, uiPort }: Settings['temporal']): string[] {
  if (uiUrl !== undefined) return [new URL(uiUrl).origin];
  return [`http://127.0.0.1:${uiPort}`, `http://localhost:${uiPort}`];
}

/**
 * Serves what Temporal's UI and CLI ask a remote codec for. It logs no request, and no error of one.
 * @throws SettingsError where keys or token are missing
 * @throws PortError
 */
export async function startCodecServer({ host, codecServer, temporal }: Settings): Promise<RunningServer> {
  const { port, token } = codecServer;
  const { payloadKeys } = temporal;
  if (payloadKeys === undefined || token === undefined)
    throw new SettingsError(
      [
        payloadKeys === undefined && 'TEMPORAL_PAYLOAD_KEYS: set it, the codec server decrypts with these keys',
        token === undefined && 'CODEC_SERVER_TOKEN: set it, whoever knows it can decrypt',
      ].filter((problem) => problem !== false),
    );
  const codec = createPayloadCodec(payloadKeys);
  const origins = originsOf(temporal);
  return listen(
    (request, response) => {
      if (answerPreflight(request, response, origins)) return;
      const send = (status: number, body: object) =>
        response
          .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' })
          .end(JSON.stringify(body));
      convert(request, { codec, token }).then(
        (body) => send(200, body),
        (thrown: unknown) => {
          const error = toApiError(thrown);
          send(STATUS_OF_CODE[error.code], errorBody(error));
        },
      );
    },
    { host, port, setting: 'CODEC_SERVER_PORT' },
  );
}

/** `npm run codec-server` */
async function main(): Promise<void> {
  await runProcess('codec-server', async (settings, log, parts) => {
    const server = await startCodecServer(settings);
    parts.add('the codec server', () => server.close(GRACE_MS));
    log.info({ port: server.port }, 'the codec server listens');
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void main();
