import { createRemoteJWKSet, customFetch as joseFetch, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client';
import { SingleFlight } from '../lib/single-flight.ts';
import { type Claims, subjectOf } from './claims.ts';
import { createProviderFetch, UnreachableError } from './provider-fetch.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { SignInError, type SignInProblem } from './sign-in-error.ts';

/** `error` in a response of the authorization endpoint: OAuth 2.0, 4.1.2.1, and OpenID Connect Core, 3.1.2.6. */
const OF_AUTHORIZATION: Record<string, SignInProblem> = {
  login_required: 'not_signed_in',
  interaction_required: 'not_signed_in',
  consent_required: 'not_signed_in',
  account_selection_required: 'not_signed_in',
  server_error: 'provider_down',
  temporarily_unavailable: 'provider_down',
};
const MAX_CAUSES = 5;

/** An error with its causes. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let each = error; each instanceof Error && causes.length < MAX_CAUSES; each = each.cause) causes.push(each);
  return causes;
}

function problemOf(error: unknown): SignInProblem {
  if (error instanceof AuthorizationResponseError) return OF_AUTHORIZATION[error.error] ?? 'provider_refused';
  // For a code: it was used, has expired, or belongs to another client. For a refresh token: the person is signed out, or gone.
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return 'grant_ended';
  const isToken = error instanceof WWWAuthenticateChallengeError;
  if (isToken && error.cause.some(({ parameters }) => parameters.error === 'invalid_token')) return 'grant_ended';
  if (causesOf(error).some((cause) => cause instanceof UnreachableError)) return 'provider_down';
  return 'invalid_response';
}

/** Converts a library error to a sign-in failure. The message is for the log: it may contain text of the provider. */
function toSignInError(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  const messages = causesOf(error).map((cause) => (cause instanceof Error ? cause.message : ''));
  return new SignInError(problemOf(error), messages.join(': ').slice(0, 500), { cause: error });
}

/** Timeout of each request to a provider. */
const TIMEOUT_S = 10;
/** Allowed error of its clock. */
const CLOCK_TOLERANCE_S = 60;
/** The interval after which its addresses are read again. */
const DISCOVER_EVERY_MS = 60 * 60_000;
/** Keys younger than this are not reloaded for a token with an unknown key, so that a caller cannot trigger constant requests. */
const JWKS_COOLDOWN_MS = 30_000;
/** Algorithms with public keys: neither a client's secret nor "none". */
const ASYMMETRIC = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const ACCESS_TOKEN_TYPES = new Set(['at+jwt', 'application/at+jwt', 'jwt']);

const CLIENT: Partial<oidc.ClientMetadata> = { [oidc.clockTolerance]: CLOCK_TOLERANCE_S };

/** Tokens kept from a sign-in, for refreshing and signing out. */
export interface ProviderTokens {
  refresh: string | undefined;
  id: string | undefined;
  /** The claim `sub`, which shows that answers are about the same person. */
  sub: string | undefined;
}

export interface ProviderAnswer {
  claims: Claims;
  tokens: ProviderTokens;
}

/** The secrets of a login. */
export interface LoginSecrets {
  state: string;
  nonce: string;
  /** The PKCE verifier. */
  verifier: string;
}

/**
 * An identity provider (OpenID Connect). Its addresses are requested on first use, so that the service starts, and keys work, while it is
 * down.
 */
export interface IdentityProvider {
  readonly settings: ProviderSettings;
  /**
   * The address at which a login starts. @param isSilent the provider must not interact: if it would have to, it refuses. @throws SignInError
   */
  loginUrl(secrets: LoginSecrets, options: { isSilent: boolean }): Promise<URL>;
  /** Exchanges the code that a browser has brought back, and verifies everything. @throws SignInError */
  finishLogin(callback: URLSearchParams, secrets: LoginSecrets): Promise<ProviderAnswer>;
  /** Refreshes the person's claims. @returns them with the tokens to keep from now on. @throws SignInError */
  refresh(tokens: ProviderTokens & { refresh: string; sub: string }): Promise<ProviderAnswer>;
  /** The address for signing out at the provider; undefined if it has none, or can't be reached. */
  signOutUrl(idToken: string | undefined): Promise<URL | undefined>;
  /** The issuer, as in its tokens. @throws SignInError */
  issuer(): Promise<string>;
  /** Verifies an access token (RFC 9068) of this provider. @returns its subject. @throws SignInError */
  verifyAccessToken(token: string, audiences: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

interface Known {
  metadata: oidc.ServerMetadata;
  /** For access tokens. */
  keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  /** For ID tokens. */
  keyCache: oidc.ExportedJWKSCache | undefined;
  until: number;
}

/** The client authentication method: a supported one, in the body if both are supported. */
function clientAuth({ client_secret: secret }: ProviderSettings, methods: string[] | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const isBasic =
    methods === undefined || (methods.includes('client_secret_basic') && !methods.includes('client_secret_post'));
  return isBasic ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret);
}

/** @param publicUrl where browsers reach this service, without a trailing slash */
export function createIdentityProvider(settings: ProviderSettings, publicUrl: string): IdentityProvider {
  const { fetch, close } = createProviderFetch(settings.ca);
  const redirectUri = `${publicUrl}/auth/callback/${settings.id}`;
  // The operator has chosen it; between machines it belongs behind TLS, as the documentation says.
  const extensions = settings.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
  const discovering = new SingleFlight<Known>();
  let known: Known | undefined;

  async function discover(): Promise<Known> {
    const found = await oidc.discovery(new URL(settings.issuer), settings.client_id, undefined, oidc.None(), {
      [oidc.customFetch]: fetch,
      timeout: TIMEOUT_S,
      execute: extensions,
    });
    const metadata = found.serverMetadata();
    const { jwks_uri: jwks } = metadata;
    const keys =
      jwks === undefined
        ? undefined
        : createRemoteJWKSet(new URL(jwks), {
            [joseFetch]: (url, options) =>
              fetch(url, { ...options, headers: Object.fromEntries(options.headers), body: undefined }),
            timeoutDuration: TIMEOUT_S * 1000,
            cooldownDuration: JWKS_COOLDOWN_MS,
          });
    return { metadata, keys, keyCache: undefined, until: Date.now() + DISCOVER_EVERY_MS };
  }

  /**
   * A configuration for one exchange. For unknown keys, the library does not reload keys less than a minute old; but this token comes
   * from the provider itself, so the keys are presented as older.
   */
  function configOf({ metadata, keyCache }: Known): oidc.Configuration {
    const auth = clientAuth(settings, metadata.token_endpoint_auth_methods_supported);
    const config = new oidc.Configuration({ ...metadata }, settings.client_id, CLIENT, auth);
    config[oidc.customFetch] = fetch;
    config.timeout = TIMEOUT_S;
    for (const extend of extensions) extend(config);
    // Verify signatures of ID tokens from any sender.
    oidc.enableNonRepudiationChecks(config);
    const minuteAgo = Math.floor(Date.now() / 1000) - 60;
    if (keyCache !== undefined) oidc.setJwksCache(config, { ...keyCache, uat: Math.min(keyCache.uat, minuteAgo) });
    return config;
  }

  async function current(): Promise<Known> {
    if (known !== undefined && known.until > Date.now()) return known;
    const before = known;
    known = await discovering.run('', discover).catch((error: unknown) => {
      if (before !== undefined) return before;
      throw error;
    });
    return known;
  }

  /**
   * @param options.isOurs whether the provider itself sent what is verified. Default: true
   * @throws SignInError instead of every error of the libraries
   */
  async function ask<T>(
    work: (config: oidc.Configuration, known: Known) => Promise<T>,
    { isOurs = true }: { isOurs?: boolean } = {},
  ): Promise<T> {
    try {
      const asked = await current();
      const config = configOf(asked);
      try {
        return await work(config, asked);
      } finally {
        asked.keyCache = oidc.getJwksCache(config) ?? asked.keyCache;
      }
    } catch (thrown) {
      const error = toSignInError(thrown);
      // Its addresses may have changed. Untrusted input is not a reason to reload them.
      if (isOurs && error.problem === 'invalid_response' && known !== undefined) known.until = 0;
      throw error;
    }
  }

  async function claimsOf(
    config: oidc.Configuration,
    tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers,
    sub: string,
  ): Promise<Claims> {
    const ofToken = tokens.claims();
    if (ofToken !== undefined && ofToken.sub !== sub)
      throw new SignInError('invalid_response', 'the ID token belongs to another person');
    if (ofToken !== undefined && ofToken.iat > Date.now() / 1000 + CLOCK_TOLERANCE_S)
      throw new SignInError('invalid_response', 'the ID token was issued in the future');
    const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
    const userInfo = hasUserInfo ? await oidc.fetchUserInfo(config, tokens.access_token, sub) : {};
    // Signed claims take precedence.
    return { ...userInfo, ...ofToken, sub };
  }

  return {
    settings,
    loginUrl: ({ state, nonce, verifier }, { isSilent }) =>
      ask(async (config) =>
        oidc.buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: settings.scopes,
          state,
          nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(isSilent && { prompt: 'none' }),
        }),
      ),
    finishLogin: (callback, { state, nonce, verifier }) =>
      ask(async (config) => {
        const tokens = await oidc.authorizationCodeGrant(config, new URL(`${redirectUri}?${callback.toString()}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const sub = tokens.claims()?.sub;
        if (sub === undefined) throw new SignInError('invalid_response', 'there is no ID token');
        const claims = await claimsOf(config, tokens, sub);
        return { claims, tokens: { refresh: tokens.refresh_token, id: tokens.id_token, sub } };
      }),
    refresh: ({ refresh, id, sub }) =>
      ask(async (config) => {
        const tokens = await oidc.refreshTokenGrant(config, refresh);
        const claims = await claimsOf(config, tokens, sub);
        return { claims, tokens: { refresh: tokens.refresh_token ?? refresh, id: tokens.id_token ?? id, sub } };
      }),
    async signOutUrl(idToken) {
      try {
        return await ask(async (config) =>
          config.serverMetadata().end_session_endpoint === undefined
            ? undefined
            : oidc.buildEndSessionUrl(config, {
                post_logout_redirect_uri: `${publicUrl}/console/sign-in`,
                ...(idToken !== undefined && { id_token_hint: idToken }),
              }),
        );
      } catch {
        return undefined;
      }
    },
    issuer: () => ask(async (config) => config.serverMetadata().issuer),
    verifyAccessToken: (token, audiences) =>
      ask(
        async (config, { keys }) => {
          if (keys === undefined) throw new SignInError('invalid_response', 'the provider publishes no keys');
          const { payload, protectedHeader } = await jwtVerify(token, keys, {
            issuer: config.serverMetadata().issuer,
            audience: [...audiences],
            algorithms: ASYMMETRIC,
            clockTolerance: CLOCK_TOLERANCE_S,
            requiredClaims: ['exp', 'sub'],
          });
          const { iat } = payload;
          if (protectedHeader.typ !== undefined && !ACCESS_TOKEN_TYPES.has(protectedHeader.typ.toLowerCase()))
            throw new SignInError('invalid_response', 'it is not an access token');
          if (iat !== undefined && iat > Date.now() / 1000 + CLOCK_TOLERANCE_S)
            throw new SignInError('invalid_response', 'it was issued in the future');
          // These are in ID tokens, which identify a person but grant no access.
          if (payload['nonce'] !== undefined || payload['at_hash'] !== undefined)
            throw new SignInError('invalid_response', 'it is an ID token');
          return subjectOf(settings, payload);
        },
        { isOurs: false },
      ),
    close,
  };
}
