import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useTitle } from '../../components/page.tsx';
import { sessionQuery } from '../../shell/session.ts';
import { SignInForm } from '../../shell/sign-in-form.tsx';
import { signInRoute } from './routes.ts';

export function SignInPage() {
  useTitle('Sign in');
  const { to = '/prompts' } = signInRoute.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  return (
    <main className="sign-in">
      <SignInForm
        className="card"
        onSignedIn={(session) => {
          client.clear();
          client.setQueryData(sessionQuery.queryKey, session);
          void router.navigate({ href: router.buildLocation({ to } as never).publicHref, replace: true });
        }}
      >
        <h1>Sign in</h1>
        <p className="muted">
          With an API key of your workspace. <code>npm start</code> prints the first one; administrators make more in
          the settings.
        </p>
      </SignInForm>
    </main>
  );
}
