import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseSettings, SettingsError } from '../../src/config.ts';
import { type SignInStage, settingsOf, startSignInStage } from '../support/identity/stage.ts';
import { CA_FILE, type StandIn, startStandIn } from '../support/identity/stand-in.ts';
import { createSurfer } from '../support/identity/surfer.ts';

// A provider's metadata is read on first use, so each of these is a separate provider.

const NAMES = ['away', 'longwinded', 'liar', 'basic', 'trusted', 'unknown-ca', 'downgraded', 'redirecting'] as const;
type Name = (typeof NAMES)[number];
const providers = {} as Record<Name, StandIn>;
let stage: SignInStage;
beforeAll(async () => {
  for (const name of NAMES)
    providers[name] = await startStandIn({ isSecure: ['trusted', 'unknown-ca', 'downgraded'].includes(name) });
  await providers.away.stop();
  stage = await startSignInStage(
    NAMES.map((name) =>
      settingsOf(name, providers[name], name === 'trusted' || name === 'downgraded' ? { ca: CA_FILE } : {}),
    ),
    { environment: { RATE_LIMIT_PER_MINUTE: '1000' } },
  );
});
afterAll(async () => {
  await stage?.stop();
  for (const each of Object.values(providers)) await each.stop().catch(() => {});
});

const DISCOVERY = '/.well-known/openid-configuration';
/** The surfer trusts no private authority: the provider's page is fetched like by the service. */
const begin = async (name: Name) => {
  const surfer = createSurfer();
  const response = await surfer.go(stage.loginUrl(name));
  const location = new URL(response.headers.get('Location') ?? '', stage.service.origin);
  return { error: location.searchParams.get('error'), location };
};

describe('a provider', () => {
  test('that is down when the service starts does not block others, and is found once it is up', async () => {
    expect((await stage.service.call('GET', '/prompts')).status).toBe(200);
    expect(await stage.signIn('away')).toMatchObject({ error: 'provider_down' });
    await providers.away.start();
    expect(await stage.signIn('away')).toMatchObject({ error: null });
  });
  test('with metadata that is too long is not read to its end', async () => {
    providers.longwinded.metadata = (metadata) => ({ ...metadata, claims_supported: 'x'.repeat(2 * 1024 * 1024) });
    expect(await begin('longwinded')).toMatchObject({ error: 'provider_down' });
  });
  test('that claims to be another is refused', async () => {
    providers.liar.metadata = (metadata) => ({ ...metadata, issuer: providers.away.issuer });
    expect(await begin('liar')).toMatchObject({ error: 'invalid_response' });
  });
  test('with metadata that leads elsewhere is not followed', async () => {
    providers.redirecting.on.set(DISCOVERY, (_, response) =>
      response.writeHead(302, { Location: `${providers.away.issuer}${DISCOVERY}` }).end(),
    );
    expect(await begin('redirecting')).toMatchObject({ error: 'provider_down' });
  });
  test('gets the client’s secret in its own way', async () => {
    let authorization: string | undefined;
    providers.basic.metadata = (metadata) => ({
      ...metadata,
      token_endpoint_auth_methods_supported: undefined,
    });
    providers.basic.on.set('/token', (request, response) => {
      ({ authorization } = request.headers);
      response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_client"}');
    });
    expect(await stage.signIn('basic')).toMatchObject({ error: 'invalid_response' });
    expect(Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64').toString()).toMatch(/^pms:a[+%]/);
  });
  test('with a certificate of a private authority is trusted if OIDC_CA names it', async () => {
    expect((await begin('trusted')).location.origin).toBe(providers.trusted.issuer);
    expect(await begin('unknown-ca')).toMatchObject({ error: 'provider_down' });
  });
  test('with TLS and tokens without it is refused', async () => {
    providers.downgraded.metadata = (metadata) => ({
      ...metadata,
      authorization_endpoint: String(metadata['authorization_endpoint']).replace('https:', 'http:'),
    });
    expect(await begin('downgraded')).toMatchObject({ error: 'invalid_response' });
  });
});

test('more sign-ins than an address may begin per minute are refused clearly', async () => {
  const problems = new Set<string | null>();
  for (let tries = 0; tries < 250; tries++) problems.add((await begin('away')).error);
  expect([...problems]).toEqual([null, 'too_many_tries']);
});

describe('the settings', () => {
  const BASE = {
    OIDC_ISSUER: 'https://login.example.com',
    OIDC_CLIENT_ID: 'pms',
    PUBLIC_URL: 'https://pms.example.com',
    TRUST_PROXY: 'true',
  };
  const problemsOf = (environment: Record<string, string>) => {
    try {
      parseSettings({ ...BASE, ...environment });
      return [];
    } catch (error) {
      return error instanceof SettingsError ? error.problems : [String(error)];
    }
  };
  test.each(['groups[', 'a..b', 'foo(groups)', '`{`', ''])(
    'the expression %p is refused at the start',
    (expression) => {
      const problems = problemsOf({
        OIDC_PROVIDERS: JSON.stringify([
          { ...settingsOf('x', { issuer: 'https://x.example', clientId: 'x' }), role_path: expression },
        ]),
      });
      expect(problems.join()).toMatch(/^OIDC_PROVIDERS\.0\.role_path: /);
    },
  );
  test('behind a proxy with TLS, the proxy must be trusted: it decides how cookies are protected', () => {
    expect(problemsOf({ TRUST_PROXY: 'false' }).join()).toMatch(/^TRUST_PROXY: /);
  });
  test('expressions as in Grafana work', () => {
    expect(
      problemsOf({ OIDC_ROLE_PATH: "contains(groups[*], 'admin') && 'default:admin' || 'default:viewer'" }),
    ).toEqual([]);
    expect(problemsOf({ OIDC_ROLE_PATH: 'resource_access."pms".roles[]' })).toEqual([]);
  });
});
