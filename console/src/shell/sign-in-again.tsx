import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { call } from '../api.ts';
import type { OwnSession } from '../api-types.ts';
import { openDrafts } from '../drafts/drafts.ts';
import { reportSignedIn, useSessionEnded } from '../session-ended.ts';
import { useConfig } from './config.ts';
import { ProviderButtons } from './provider-sign-in.tsx';
import { sessionQuery, useSession } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Shown over the page when its session has ended: the page stays, and its requests are sent again. */
export function SignInAgain() {
  return useSessionEnded() ? <SignInDialog /> : null;
}

function SignInDialog() {
  const session = useSession();
  const client = useQueryClient();
  const { href } = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  // The provider of the previous sign-in.
  const provider = useConfig()?.sign_in.providers.find(({ id }) => id === session?.provider);
  useEffect(() => {
    // Above all other dialogs, which stay open below it.
    dialog.current?.showModal();
  }, []);
  const goOn = useCallback(
    async (next: OwnSession) => {
      // Waiting requests belong to the workspace on the page.
      if (session !== undefined && next.workspace.name !== session.workspace.name)
        return window.location.assign('/console/');
      client.setQueryData(sessionQuery.queryKey, next);
      await openDrafts(next);
      reportSignedIn();
      void client.invalidateQueries();
    },
    [client, session],
  );
  useEffect(() => {
    // Someone may have signed in again in another tab.
    const look = () =>
      void call<OwnSession>('GET', '/session', { waitsForSignIn: false }).then(
        (found) => (found.key.id === session?.key.id ? goOn(found) : undefined),
        () => {},
      );
    window.addEventListener('focus', look);
    return () => window.removeEventListener('focus', look);
  }, [goOn, session]);
  const text = (
    <>
      <h2 id="sign-in-again" className="dialog-title">
        Your session has ended
      </h2>
      <p className="muted">
        Sign in to continue where you were{session && <> as “{session.member?.name ?? session.key.name}”</>}.{' '}
        {provider === undefined
          ? 'Nothing you typed is lost, and your last action is completed afterwards.'
          : 'Your text is kept in this browser and will be restored.'}
      </p>
    </>
  );
  const leave = (
    <a className="button" href={`/console/sign-in?to=${encodeURIComponent(href)}`}>
      Leave this page
    </a>
  );
  // Outside of the page: other dialogs hide from screen readers whatever existed when they opened.
  return createPortal(
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby="sign-in-again"
      onCancel={(event) => event.preventDefault()}
      // Portals propagate events to their React parent.
      onKeyDown={(event) => event.stopPropagation()}
    >
      {provider === undefined ? (
        <SignInForm onSignedIn={goOn} actions={leave}>
          {text}
        </SignInForm>
      ) : (
        <>
          {text}
          <ProviderButtons providers={[provider]} href={`/console${href}`} />
          {leave}
        </>
      )}
    </dialog>,
    document.body,
  );
}
