import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { ApiError } from '../domain/errors.ts';
import { parseJson, readBytes, readJsonBytes } from '../http/json-body.ts';
import { errorBody, toApiError } from '../http/middleware/error-responses.ts';
import { STATUS_OF_CODE } from '../http/status.ts';
import { PayloadDecryptionError } from '../temporal/payload-codec.ts';
import type { Access } from './access.ts';

/** The policy of a page that can only send its form. */
const SIGN_IN_POLICY = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** @param message about the last attempt, in HTML */
const signInPage = (message = ''): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Codec server</title>
<h1>Codec server</h1>
<p role="status">${message}</p>
<p>Anyone who signs in can have Temporal’s UI decrypt what it shows. In the UI, enter the address of this page as the codec server, and turn on
“Include cross-origin credentials”.</p>
<form method="post" action="/sign-in">
<p><label>CODEC_SERVER_TOKEN <input type="password" name="token" autocomplete="current-password" required></label>
<button>Sign in</button></p>
</form>
</html>
`;

/** Temporal limits a message to 4 MiB; this allows for base64 and some overhead. */
const MAX_CODEC_BYTES = 8 * 1024 * 1024;
/** Room for a token in a form. */
const MAX_FORM_BYTES = 4 * 1024;
/** Headers of Temporal's UI, in addition to those allowed for every page. */
const UI_HEADERS = 'Authorization, Authorization-Extras, Content-Type, X-Namespace';

const Base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));

/** Payloads in protobuf's JSON format. */
const Body = z.object({
  payloads: z.array(z.looseObject({ metadata: z.record(z.string(), Base64).optional(), data: Base64.optional() })),
});

const toJson = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  ),
  ...(data != null && { data: Buffer.from(data).toString('base64') }),
});

/** @throws ApiError `invalid_request`, `payload_too_large` */
async function readPayloads(request: IncomingMessage): Promise<Payload[]> {
  const { data, error } = Body.safeParse(await parseJson(await readJsonBytes(request, MAX_CODEC_BYTES)));
  if (data !== undefined)
    return data.payloads.map(({ metadata = null, data: bytes = null }) => ({ metadata, data: bytes }));
  const { path = [], message = '' } = error.issues[0] ?? {};
  throw new ApiError(
    'invalid_request',
    `Send {"payloads": [{"metadata": …, "data": …}]}: ${path.join('.')} ${message}`,
  );
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

function sendPage(response: ServerResponse, status: number, message?: string): void {
  response.setHeader('Content-Security-Policy', SIGN_IN_POLICY);
  response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8' }).end(signInPage(message));
}

/**
 * Allows only pages of Temporal's UI to send requests and read responses.
 * @throws ApiError `unauthorized` for pages of other origins
 */
function checkOrigin({ headers: { origin } }: IncomingMessage, response: ServerResponse, origins: readonly string[]) {
  response.setHeader('Vary', 'Origin');
  if (origin === undefined) return;
  if (!origins.includes(origin))
    throw new ApiError('unauthorized', 'This origin is not allowed: set TEMPORAL_UI_URL to the allowed origins.');
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
}

function answerPreflight(response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Methods', 'POST');
  response.setHeader('Access-Control-Allow-Headers', UI_HEADERS);
  response.writeHead(204).end();
}

/** The dependencies of the codec server. */
export interface CodecServerParts {
  codec: PayloadCodec;
  access: Access;
  /** Origins of Temporal's UI, as browsers send them in `Origin`. */
  origins: readonly string[];
}

/** Decodes and encodes payloads for Temporal's UI and CLI. It logs neither requests nor their errors. */
export function createCodecServer({ codec, access, origins }: CodecServerParts): RequestListener {
  async function convert(request: IncomingMessage, response: ServerResponse, operation: 'decode' | 'encode') {
    if (!access.isAllowed(request))
      throw new ApiError(
        'unauthorized',
        'Send the header "Authorization: Bearer <CODEC_SERVER_TOKEN>", or sign in at the address / first.',
      );
    const payloads = await readPayloads(request);
    const converted = await codec[operation](payloads).catch((error: unknown) => {
      throw error instanceof PayloadDecryptionError ? new ApiError('invalid_request', error.message) : error;
    });
    sendJson(response, 200, { payloads: converted.map(toJson) });
  }

  async function signIn(request: IncomingMessage, response: ServerResponse) {
    const form = new URLSearchParams((await readBytes(request, MAX_FORM_BYTES)).toString());
    if (!access.isToken(form.get('token') ?? '')) return sendPage(response, 401, 'Wrong token.');
    response.setHeader('Set-Cookie', access.cookieFor(request));
    sendPage(response, 200, 'You are signed in for twelve hours.');
  }

  async function respond(request: IncomingMessage, response: ServerResponse) {
    const { method, url = '' } = request;
    const [path = ''] = url.split('?', 1);
    const [, operation] = /^\/(decode|encode)$/.exec(path) ?? [];
    if (operation !== undefined) checkOrigin(request, response, origins);
    if (operation !== undefined && method === 'OPTIONS') answerPreflight(response);
    else if (operation !== undefined && method === 'POST')
      await convert(request, response, operation as 'decode' | 'encode');
    else if (path === '/sign-in' && method === 'POST') await signIn(request, response);
    else if (path === '/' && method === 'GET') sendPage(response, 200);
    else throw new ApiError('not_found', 'Not found. Use POST /decode, POST /encode, or GET / to sign in.');
  }

  return (request, response) => {
    respond(request, response).catch((thrown: unknown) => {
      const error = toApiError(thrown);
      sendJson(response, STATUS_OF_CODE[error.code], errorBody(error));
    });
  };
}
