import { decodeJwt } from 'jose';
import type { Middleware } from 'koa';
import type { Database } from '../db/database.ts';
import { ApiError } from '../domain/errors.ts';
import { scopesOfRole } from '../domain/roles.ts';
import type { AccessTokens, AuthenticatedKey } from '../services/access/authenticate.ts';
import { signInKeyOf } from '../services/members/members.ts';
import { activeMembers } from '../services/members/sync-members.ts';
import { subjectOf } from './claims.ts';
import type { IdentityProvider } from './identity-provider.ts';
import type { IdentityProviders } from './providers.ts';
import { SignInError } from './sign-in-error.ts';
import { type ActiveMember, lockMember } from './users.ts';

const METADATA_PATH = '/.well-known/oauth-protected-resource';

const refused = (message: string) => new ApiError('unauthorized', message);

/**
 * `WWW-Authenticate` for a request without a valid access token: where to get one (RFC 9728, 5.1).
 * @param error of RFC 6750, such as `invalid_token`, if a token was sent
 */
export function wwwAuthenticate(publicUrl: string, error?: string): string {
  const metadata = `resource_metadata="${publicUrl}${METADATA_PATH}/mcp"`;
  return error === undefined ? `Bearer ${metadata}` : `Bearer error="${error}", ${metadata}`;
}

/** Tells agents which providers issue access tokens for `/mcp` (RFC 9728). */
export function protectedResourceRoutes(providers: IdentityProviders, publicUrl: string): Middleware {
  return async (ctx, next) => {
    if (ctx.path !== METADATA_PATH && ctx.path !== `${METADATA_PATH}/mcp`) return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
      throw new ApiError('invalid_request', `${ctx.method} is not supported here; use GET.`);
    ctx.body = {
      resource: `${publicUrl}/mcp`,
      authorization_servers: providers.all.map(({ settings }) => settings.issuer),
      bearer_methods_supported: ['header'],
      resource_name: 'Prompt Management Service',
      resource_documentation: `${publicUrl}/docs`,
    };
  };
}

/** Accepts access tokens of the identity providers (RFC 9068) on behalf of the people they were issued to. */
export function createAccessTokens(db: Database, providers: IdentityProviders, publicUrl: string): AccessTokens {
  const audiences = [`${publicUrl}/mcp`, publicUrl, `${publicUrl}/`];

  /** The issuer that the token claims; verified next. */
  function issuerOf(token: string): IdentityProvider | undefined {
    try {
      const issuer = URL.parse(decodeJwt(token).iss ?? '')?.href;
      return providers.all.find(({ settings }) => new URL(settings.issuer).href === issuer);
    } catch {
      return undefined;
    }
  }

  async function verifiedSubject(token: string, provider: IdentityProvider): Promise<string> {
    try {
      return await provider.verifyAccessToken(token, audiences);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      if (error.problem !== 'provider_down') throw refused('This access token is invalid or expired.');
      throw new ApiError('temporarily_unavailable', 'The identity provider of this access token cannot be reached.', {
        retryAfterSeconds: 5,
        cause: error,
      });
    }
  }

  async function keyOf(member: ActiveMember): Promise<string> {
    const own = db.workspace(member.workspace_id);
    const [key] = await own.query((all) =>
      all
        .selectFrom('api_keys')
        .select('id')
        .where('member_id', '=', member.id)
        .where('kind', '=', 'sign_in')
        .where('revoked_at', 'is', null),
    );
    return key?.id ?? db.system.transaction(async (query) => signInKeyOf(await lockMember(query, member), member));
  }

  async function memberOf(
    provider: IdentityProvider,
    subject: string,
    workspaceName: string | undefined,
  ): Promise<AuthenticatedKey> {
    const [user] = await db.system.query((all) =>
      all
        .selectFrom('users')
        .select('id')
        .where('issuer', '=', provider.settings.issuer)
        .where('subject', '=', subject)
        .where('is_active', '=', true),
    );
    const members = user === undefined ? [] : await activeMembers(db.system.query, user.id);
    const member = members.find((each) => workspaceName === undefined || each.workspaceName === workspaceName);
    if (member === undefined)
      throw refused(
        workspaceName === undefined || members.length === 0
          ? 'The person of this access token is not a member of any workspace. Sign in to the console once to check access.'
          : `The person of this access token is not a member of the workspace "${workspaceName}".`,
      );
    const id = await keyOf(member);
    return {
      id,
      rootKeyId: id,
      name: member.name,
      kind: 'sign_in',
      workspaceId: member.workspace_id,
      workspaceName: member.workspaceName,
      scopes: scopesOfRole(member.role),
      memberId: member.id,
      sessionId: undefined,
    };
  }

  function providerOf(token: string): IdentityProvider {
    const provider = issuerOf(token);
    if (provider === undefined) throw refused('This access token is from an unknown identity provider.');
    return provider;
  }

  return {
    async authenticate(token, workspaceName) {
      const provider = providerOf(token);
      return memberOf(provider, await verifiedSubject(token, provider), workspaceName);
    },
    async lookAgain(token, workspaceName) {
      const provider = providerOf(token);
      const claims = decodeJwt(token);
      if ((claims.exp ?? 0) * 1000 < Date.now()) throw refused('This access token has expired.');
      return memberOf(provider, subjectOf(provider.settings, claims), workspaceName);
    },
  };
}
