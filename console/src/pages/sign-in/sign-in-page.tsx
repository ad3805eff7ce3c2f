import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useRef } from 'react';
import { ApiError, post } from '../../api.ts';
import type { Session } from '../../api-types.ts';
import { useTitle } from '../../components/page.tsx';
import { sessionQuery } from '../../shell/session.ts';
import { signInRoute } from './routes.ts';

/** Exchanges an API key for a session. The key is kept nowhere. */
export function SignInPage() {
  useTitle('Sign in');
  const { to = '/prompts' } = signInRoute.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const field = useRef<HTMLInputElement>(null);
  const signIn = useMutation({
    mutationFn: (key: string) => post<Session>('/session', { key }),
    onSuccess(session) {
      client.clear();
      client.setQueryData(sessionQuery.queryKey, session);
      void router.navigate({ href: router.buildLocation({ to } as never).publicHref, replace: true });
    },
    onError: () => field.current?.focus(),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate(field.current?.value.trim() ?? '');
  };
  const { error } = signIn;
  return (
    <main className="sign-in">
      <form onSubmit={submit} className="card">
        <h1>Sign in</h1>
        <p className="muted">
          With an API key of your workspace. <code>npm start</code> prints the first one; administrators make more in
          the settings.
        </p>
        <div className="field">
          <label htmlFor="key">API key</label>
          <input
            id="key"
            ref={field}
            type="password"
            autoComplete="off"
            spellCheck={false}
            required
            aria-invalid={error !== null}
            aria-describedby={error ? 'key-error' : undefined}
          />
          {error && (
            <p id="key-error" role="alert" className="field-error">
              {error instanceof ApiError && error.code === 'unauthorized'
                ? 'There is no such key, or it was revoked or has expired.'
                : error.message}
            </p>
          )}
        </div>
        <button type="submit" className="button primary" disabled={signIn.isPending}>
          {signIn.isPending ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
