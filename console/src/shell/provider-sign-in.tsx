import { unsavedDrafts } from '../drafts/drafts.ts';
import { t } from '../strings.ts';
import type { IdentityProvider } from './config.ts';

const LAST = 'pms-provider';
const TRIED = 'pms-silent-sign-in';
/** A sign-in by itself that has led back here is not tried again so soon: it may be the browser that keeps no session. */
const AGAIN_MS = 60_000;

/** @param href path of the console, with its base */
export function loginUrl(provider: string, href: string, { isSilent = false } = {}): string {
  const search = new URLSearchParams({ provider, return_to: href, ...(isSilent && { silent: '1' }) });
  return `/auth/login?${search.toString()}`;
}

/** The provider by which the browser was signed in last, where nobody has signed out since. */
export function rememberProvider(provider: string | null): void {
  try {
    if (provider === null) localStorage.removeItem(LAST);
    else localStorage.setItem(LAST, provider);
  } catch {
    // A browser that keeps nothing asks each time.
  }
}

/**
 * Whether to sign in again without asking: the session has run out, and the one at the provider may stand. Says so once a minute at most.
 * @returns the provider
 */
export function silentSignIn(providers: readonly IdentityProvider[]): string | undefined {
  try {
    const last = localStorage.getItem(LAST);
    if (!providers.some(({ id }) => id === last) || last === null) return undefined;
    if (Date.now() - Number(sessionStorage.getItem(TRIED) ?? 0) < AGAIN_MS) return undefined;
    sessionStorage.setItem(TRIED, String(Date.now()));
    return last;
  } catch {
    return undefined;
  }
}

/** What has gone wrong with a sign-in, by the code that the service leads back with (`src/sign-in/sign-in-error.ts`). */
const PROBLEMS: Record<string, (name: string) => string> = {
  provider_down: (name) => t(`${name} cannot be reached at the moment. Try again in a minute.`),
  provider_refused: (name) => t(`${name} rejected the sign-in, or it was canceled there.`),
  not_signed_in: () => t('Your session has expired. Sign in again.'),
  invalid_response: (name) =>
    t(
      `What ${name} answered could not be accepted. Try again; if it stays so, tell your administrator: the log of the service says why.`,
    ),
  login_expired: () => t('This sign-in took too long or was started in another browser. Start again.'),
  no_role: (name) =>
    t(`${name} recognizes you but gives you no role here. Ask your administrator to add you to a group.`),
  inactive: () => t('Your account is deactivated. Ask your administrator.'),
  too_many_tries: () => t('There were too many sign-ins from your network. Try again in a minute.'),
};

/** @returns undefined where the code is none of ours */
export const problemText = (code: string, name: string): string | undefined =>
  Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code]?.(name) : undefined;

/** Buttons that lead to the providers. What is typed and not saved is kept as drafts. */
export function ProviderButtons({ providers, href }: { providers: readonly IdentityProvider[]; href: string }) {
  return (
    <ul className="providers">
      {providers.map(({ id, name }) => (
        <li key={id}>
          <a
            className="button primary"
            href={loginUrl(id, href)}
            onClick={(event) => {
              if (unsavedDrafts() > 0 && !window.confirm(t('Leave the page without keeping your changes?')))
                event.preventDefault();
            }}
          >
            Sign in with {name}
          </a>
        </li>
      ))}
    </ul>
  );
}
