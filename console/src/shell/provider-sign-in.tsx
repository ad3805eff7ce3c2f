import { unsavedDrafts } from '../drafts/drafts.ts';
import { t } from '../strings.ts';
import type { IdentityProvider } from './config.ts';

const LAST = 'pms-provider';
const TRIED = 'pms-silent-sign-in';
/** An automatic sign-in that led back here is not repeated within this time: the browser may not keep sessions. */
const AGAIN_MS = 60_000;

/** @param href path of the console, with its base */
export function loginUrl(provider: string, href: string, { isSilent = false } = {}): string {
  const search = new URLSearchParams({ provider, return_to: href, ...(isSilent && { silent: '1' }) });
  return `/auth/login?${search.toString()}`;
}

/** The provider of the last sign-in in this browser, until someone signs out. */
export function rememberProvider(provider: string | null): void {
  try {
    if (provider === null) localStorage.removeItem(LAST);
    else localStorage.setItem(LAST, provider);
  } catch {
    // Without storage, the browser asks each time.
  }
}

/**
 * Whether to sign in again silently: the session has expired, and the one at the provider may still exist. True at most once a minute.
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

/** Messages for failed sign-ins, by the error code in the address (`src/sign-in/sign-in-error.ts`). */
const PROBLEMS: Record<string, (name: string) => string> = {
  provider_down: (name) => t(`${name} cannot be reached at the moment. Try again in a minute.`),
  provider_refused: (name) => t(`${name} rejected the sign-in, or it was canceled there.`),
  not_signed_in: () => t('Your session has expired. Sign in again.'),
  invalid_response: (name) =>
    t(
      `The answer from ${name} could not be accepted. Try again. If this continues, contact your administrator: the log of the service has the reason.`,
    ),
  login_expired: () => t('This sign-in took too long or was started in another browser. Start again.'),
  no_role: (name) =>
    t(`${name} recognizes you but gives you no role here. Ask your administrator to add you to a group.`),
  inactive: () => t('Your account is deactivated. Ask your administrator.'),
  too_many_tries: () => t('There were too many sign-ins from your network. Try again in a minute.'),
};

/** @returns undefined for an unknown code */
export const problemText = (code: string, name: string): string | undefined =>
  Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code]?.(name) : undefined;

/** Buttons for the providers. Unsaved input is kept as drafts. */
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
