import { createWorkspace } from '../../../src/services/workspaces/workspaces.ts';
import { type Answer, startTestService, type TestService } from '../service.ts';
import { waitFor } from '../wait-for.ts';
import { freePort } from './free-port.ts';
import { createSurfer, type Surfer } from './surfer.ts';

/** The service with some identity providers. It has the workspaces `default` and `research`. */
export interface SignInStage {
  service: TestService;
  /** A browser goes to the provider and back. */
  signIn(provider: string, options?: { surfer?: Surfer; returnTo?: string }): Promise<SignedIn>;
  /** What a browser has reached at an address. */
  seen(surfer: Surfer, at: URL): SignedIn;
  loginUrl(provider: string, returnTo?: string): string;
  stop(): Promise<void>;
}

export interface SignedIn {
  surfer: Surfer;
  /** Path and query, within the service. */
  at: string;
  /** Why there is no session, as passed to the sign-in page. */
  error: string | null;
  /** The session that the browser has. */
  session: string | undefined;
  /** Calls the API as the console does. */
  call: (method: string, path: string, body?: unknown) => Promise<Answer>;
  /** Waits until the session has ended; other processes are notified within moments. */
  untilOut: () => Promise<void>;
}

export const settingsOf = (
  id: string,
  { issuer, clientId }: { issuer: string; clientId: string },
  more: Record<string, unknown> = {},
) => ({
  id,
  name: id,
  issuer,
  client_id: clientId,
  client_secret: 'a secret of the client',
  scopes: 'openid profile email',
  role_mapping: { engineers: 'default:editor', leads: ['default:admin', 'research:viewer'] },
  ...more,
});

/**
 * @param providers `settingsOf` of each
 * @param options `port`: of the service, if a provider must know it
 */
export async function startSignInStage(
  providers: object[],
  {
    environment = {},
    workers = false,
    port,
  }: { environment?: Record<string, string>; workers?: boolean; port?: number } = {},
): Promise<SignInStage> {
  const own = port ?? (await freePort());
  const publicUrl = `http://127.0.0.1:${own}`;
  const service = await startTestService(
    { PORT: String(own), PUBLIC_URL: publicUrl, OIDC_PROVIDERS: JSON.stringify(providers), ...environment },
    { workers },
  );
  await createWorkspace(service.dependencies.db.system, 'research', 'owner@example.test');
  const seen: SignInStage['seen'] = (surfer, at) => {
    const session = surfer.cookies(service.origin).get('pms_session');
    const call: SignedIn['call'] = (method, path, body) =>
      service.call(method, path, {
        key: null,
        headers: { Cookie: `pms_session=${session}`, 'X-Console': '1', 'Sec-Fetch-Site': 'same-origin' },
        ...(body === undefined ? {} : { body }),
      });
    return {
      call,
      untilOut: async () => {
        await waitFor('the end of the session', async () => (await call('GET', '/prompts')).status === 401);
      },
      surfer,
      at: at.pathname + at.search,
      error: at.searchParams.get('error'),
      session,
    };
  };
  const loginUrl: SignInStage['loginUrl'] = (provider, returnTo = '/console/prompts') =>
    `${service.origin}/auth/login?${new URLSearchParams({ provider, return_to: returnTo }).toString()}`;
  return {
    service,
    loginUrl,
    seen,
    async signIn(provider, { surfer = createSurfer(), returnTo } = {}) {
      const { at } = await surfer.follow(loginUrl(provider, returnTo), ({ pathname }) =>
        pathname.startsWith('/console'),
      );
      return seen(surfer, at);
    },
    stop: () => service.stop(),
  };
}
