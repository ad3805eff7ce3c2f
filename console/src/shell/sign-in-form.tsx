import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useRef } from 'react';
import { ApiError, post } from '../api.ts';
import type { OwnSession } from '../api-types.ts';

/** Exchanges an API key for a session. The key is not stored. */
export function SignInForm({
  className,
  onSignedIn,
  children,
  actions,
  isSecond = false,
}: {
  className?: string;
  /** Whether another way to sign in comes first. */
  isSecond?: boolean;
  onSignedIn: (session: OwnSession) => Promise<void> | void;
  /** Above the field. */
  children: ReactNode;
  /** Next to the button. */
  actions?: ReactNode;
}) {
  const field = useRef<HTMLInputElement>(null);
  const signIn = useMutation({
    mutationFn: (key: string) => post<OwnSession>('/session', { key }, { waitsForSignIn: false }),
    onSuccess: onSignedIn,
    onError: () => field.current?.focus(),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate(field.current?.value.trim() ?? '');
  };
  const { error } = signIn;
  return (
    <form onSubmit={submit} className={className}>
      {children}
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
              ? 'This key is unknown, revoked or expired.'
              : error.message}
          </p>
        )}
      </div>
      <div className="row">
        <button type="submit" className={isSecond ? 'button' : 'button primary'} disabled={signIn.isPending}>
          {signIn.isPending ? 'Signing in…' : 'Sign in'}
        </button>
        {actions}
      </div>
    </form>
  );
}
