import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { MessageSquareCode } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTitle } from '../../components/page.tsx';
import { dropWaitingRequests } from '../../session-ended.ts';
import { type IdentityProvider, useConfig } from '../../shell/config.ts';
import {
  loginUrl,
  ProviderButtons,
  problemText,
  rememberProvider,
  silentSignIn,
} from '../../shell/provider-sign-in.tsx';
import { sessionQuery } from '../../shell/session.ts';
import { SignInForm } from '../../shell/sign-in-form.tsx';
import { t } from '../../strings.ts';
import { signInRoute } from './routes.ts';

const NO_PROVIDERS: readonly IdentityProvider[] = [];

export function SignInPage() {
  useTitle('Sign in');
  const { to = '/', error, provider, by } = signInRoute.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const config = useConfig();
  const providers = config?.sign_in.providers ?? NO_PROVIDERS;
  const asksForKey = config?.sign_in.by_key !== false || by === 'key';
  const href = `/console${to}`;
  const nameOf = (id: string | undefined) =>
    providers.find((each) => each.id === id)?.name ?? t('The identity provider');
  const problem = error === undefined ? undefined : problemText(error, nameOf(provider));
  const [leaving, setLeaving] = useState(false);
  useEffect(() => {
    // Users who return with an error, or want to use a key, are not redirected again.
    const silent = error === undefined && by === undefined ? silentSignIn(providers) : undefined;
    if (silent === undefined) return;
    setLeaving(true);
    window.location.replace(loginUrl(silent, href, { isSilent: true }));
  }, [providers, href, error, by]);
  if (config === undefined || leaving) return <main className="sign-in" aria-busy="true" />;
  const why = problem !== undefined && (
    <p role="alert" className={error === 'not_signed_in' ? 'muted' : 'field-error'}>
      {problem}
    </p>
  );
  return (
    <main className="sign-in">
      <p className="brand">
        <MessageSquareCode className="icon" aria-hidden />
        Prompt Management
      </p>
      {providers.length > 0 && (
        <div className="card">
          <h1>Sign in</h1>
          {why}
          <ProviderButtons providers={providers} href={href} />
        </div>
      )}
      {asksForKey && (
        <SignInForm
          className="card"
          isSecond={providers.length > 0}
          onSignedIn={(session) => {
            rememberProvider(null);
            client.clear();
            dropWaitingRequests();
            client.setQueryData(sessionQuery.queryKey, session);
            void router.navigate({ href: router.buildLocation({ to } as never).publicHref, replace: true });
          }}
        >
          {providers.length > 0 ? (
            <h2>With an API key</h2>
          ) : (
            <>
              <h1>Sign in</h1>
              <p className="muted">
                With an API key of your workspace. <code>npm start</code> prints the first one; administrators make more
                in the settings.
              </p>
            </>
          )}
        </SignInForm>
      )}
    </main>
  );
}
