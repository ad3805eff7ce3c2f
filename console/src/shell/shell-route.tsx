import { createRoute, redirect } from '@tanstack/react-router';
import { isSignedOut } from '../api.ts';
import { openDrafts } from '../drafts/drafts.ts';
import { rememberProvider } from './provider-sign-in.tsx';
import { rootRoute } from './root-route.tsx';
import { sessionQuery } from './session.ts';
import { Shell } from './shell.tsx';

/** Parent of every page that needs a session: without one it redirects to the sign-in page, which leads back. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  async beforeLoad({ context, location }) {
    try {
      const session = await context.queryClient.ensureQueryData(sessionQuery);
      rememberProvider(session.provider);
      await openDrafts(session);
    } catch (error) {
      if (isSignedOut(error)) throw redirect({ to: '/sign-in', search: { to: location.href } });
      throw error;
    }
  },
  component: Shell,
});
