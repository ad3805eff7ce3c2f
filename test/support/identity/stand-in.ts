import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

type Json = Record<string, unknown>;
type Answer = (request: IncomingMessage, response: ServerResponse, body: URLSearchParams) => unknown;

/** The parts of a token before it is signed. */
export interface TokenParts {
  header: { alg: string; kid?: string; typ?: string };
  claims: JWTPayload;
}

/**
 * A scripted identity provider, which can also misbehave. It speaks OpenID Connect over HTTP and signs with its own keys. Its default
 * behavior is correct; each test changes one thing.
 */
export interface StandIn {
  readonly issuer: string;
  readonly clientId: string;
  /** The person who signs in next. */
  person: { sub: string } & Json;
  /** Changes the metadata. */
  metadata: (metadata: Json) => Json;
  /** Changes the parameters with which `/authorize` sends the browser back. */
  redirect: (parameters: URLSearchParams, request: URLSearchParams) => URLSearchParams;
  /** Changes an ID token before it is signed. */
  idToken: (parts: TokenParts) => TokenParts;
  /** Replaces the signed ID token. */
  signed: (token: string, parts: TokenParts) => string | Promise<string>;
  /** Changes the response of the token endpoint. */
  tokens: (response: Json, request: URLSearchParams) => Json;
  userInfo: (claims: Json) => Json;
  /** Replaces the default response to a path. */
  on: Map<string, Answer>;
  /** Requested paths, in order. */
  readonly asked: string[];
  /** Issued and unused codes and refresh tokens. */
  readonly codes: Map<string, { request: URLSearchParams; person: Json }>;
  readonly refreshTokens: Map<string, Json>;
  /** Signs with another key from now on, and publishes only that. */
  rotate(): Promise<void>;
  sign(claims: JWTPayload, header?: Partial<TokenParts['header']>): Promise<string>;
  publicKeyPem(): Promise<string>;
  /** Restores the initial state. */
  reset(): void;
  /** Stops listening; `start` listens at the same address again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const HOUR_S = 3_600;
const seconds = () => Math.floor(Date.now() / 1000);

const certificate = (name: string) =>
  readFileSync(new URL(`../../outbound/certificates/${name}`, import.meta.url), 'utf8');
/** The authority that signed the certificates of stand-ins. */
export const CA_FILE = fileURLToPath(new URL('../../outbound/certificates/ca.pem', import.meta.url));

/** @param options `isSecure`: it has TLS, with a certificate of {@link CA_FILE} */
export async function startStandIn({ clientId = 'pms', algorithm = 'RS256', isSecure = false } = {}): Promise<StandIn> {
  const listen: (listener: RequestListener) => Server = isSecure
    ? (listener) => createSecureServer({ key: certificate('good.key'), cert: certificate('good.pem') }, listener)
    : (listener) => createServer(listener);
  let keys: { privateKey: CryptoKey; publicKey: CryptoKey } = await generateKeyPair(algorithm, { extractable: true });
  let kid = 'key-1';
  let port = 0;
  let server: Server;
  const person = { sub: 'ada', name: 'Ada', email: 'ada@example.com', groups: ['engineers'] };

  const standIn: StandIn = {
    issuer: '',
    clientId,
    person,
    metadata: (metadata) => metadata,
    redirect: (parameters) => parameters,
    idToken: (parts) => parts,
    signed: (token) => token,
    tokens: (response) => response,
    userInfo: (claims) => claims,
    on: new Map(),
    asked: [],
    codes: new Map(),
    refreshTokens: new Map(),
    async rotate() {
      keys = await generateKeyPair(algorithm, { extractable: true });
      kid = `key-${Number(kid.slice(4)) + 1}`;
    },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid, ...header }).sign(keys.privateKey),
    publicKeyPem: () => exportSPKI(keys.publicKey),
    reset() {
      standIn.person = { ...person };
      standIn.metadata = (metadata) => metadata;
      standIn.redirect = (parameters) => parameters;
      standIn.idToken = (parts) => parts;
      standIn.signed = (token) => token;
      standIn.tokens = (response) => response;
      standIn.userInfo = (claims) => claims;
      standIn.on.clear();
      standIn.asked.length = 0;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
    async start() {
      server = listen((request, response) => void respond(request, response)).listen(port, '127.0.0.1');
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
      Object.assign(standIn, { issuer: `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}` });
    },
  };

  async function tokensFor(ofPerson: Json, nonce: string | null): Promise<Json> {
    const parts = standIn.idToken({
      header: { alg: algorithm, kid },
      claims: {
        iss: standIn.issuer,
        aud: clientId,
        iat: seconds(),
        exp: seconds() + HOUR_S,
        sub: String(ofPerson['sub']),
        ...(nonce === null ? {} : { nonce }),
      },
    });
    const isSigned = parts.header.alg === algorithm;
    const token = isSigned ? await standIn.sign(parts.claims, parts.header) : '';
    const refresh = crypto.randomUUID();
    standIn.refreshTokens.set(refresh, ofPerson);
    return {
      access_token: `access-${String(ofPerson['sub'])}`,
      token_type: 'Bearer',
      expires_in: HOUR_S,
      refresh_token: refresh,
      id_token: await standIn.signed(token, parts),
    };
  }

  const challengeOf = async (verifier: string) =>
    Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(verifier))).toString('base64url');

  const json = (response: ServerResponse, body: Json, status = 200) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  };

  const answers: Record<string, Answer> = {
    '/.well-known/openid-configuration': (_request, response) =>
      json(
        response,
        standIn.metadata({
          issuer: standIn.issuer,
          authorization_endpoint: `${standIn.issuer}/authorize`,
          token_endpoint: `${standIn.issuer}/token`,
          userinfo_endpoint: `${standIn.issuer}/userinfo`,
          jwks_uri: `${standIn.issuer}/jwks`,
          end_session_endpoint: `${standIn.issuer}/logout`,
          authorization_response_iss_parameter_supported: true,
          id_token_signing_alg_values_supported: [algorithm],
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          token_endpoint_auth_methods_supported: ['client_secret_post'],
        }),
      ),
    '/jwks': async (_request, response) =>
      json(response, { keys: [{ ...(await exportJWK(keys.publicKey)), kid, alg: algorithm, use: 'sig' }] }),
    '/authorize': (request, response) => {
      const asked = new URL(request.url ?? '', standIn.issuer).searchParams;
      const code = crypto.randomUUID();
      standIn.codes.set(code, { request: asked, person: standIn.person });
      const back = standIn.redirect(
        new URLSearchParams({ code, state: asked.get('state') ?? '', iss: standIn.issuer }),
        asked,
      );
      response.writeHead(302, { Location: `${asked.get('redirect_uri')}?${back.toString()}` });
      response.end();
    },
    '/token': async (_request, response, body) => {
      if (body.get('grant_type') === 'refresh_token') {
        const known = standIn.refreshTokens.get(body.get('refresh_token') ?? '');
        if (known === undefined) return json(response, { error: 'invalid_grant' }, 400);
        standIn.refreshTokens.delete(body.get('refresh_token') ?? '');
        const current = known['sub'] === standIn.person.sub ? standIn.person : known;
        return json(response, standIn.tokens(await tokensFor(current, null), body));
      }
      const code = body.get('code') ?? '';
      const given = standIn.codes.get(code);
      standIn.codes.delete(code);
      const challenge = await challengeOf(body.get('code_verifier') ?? '');
      const isRight =
        given?.request.get('code_challenge') === challenge &&
        given.request.get('client_id') === body.get('client_id') &&
        given.request.get('redirect_uri') === body.get('redirect_uri');
      if (given === undefined || !isRight) return json(response, { error: 'invalid_grant' }, 400);
      return json(response, standIn.tokens(await tokensFor(given.person, given.request.get('nonce')), body));
    },
    '/userinfo': (_request, response) => json(response, standIn.userInfo({ ...standIn.person })),
    '/logout': (_request, response) => json(response, {}),
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', standIn.issuer);
    standIn.asked.push(pathname);
    let text = '';
    for await (const part of request) text += part;
    const answer = standIn.on.get(pathname) ?? answers[pathname];
    if (answer === undefined) json(response, { error: 'not_found' }, 404);
    else await answer(request, response, new URLSearchParams(text));
  }

  await standIn.start();
  return standIn;
}
