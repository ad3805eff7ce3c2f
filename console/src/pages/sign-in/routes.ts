import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { optional } from '../../search.ts';
import { rootRoute } from '../../shell/root-route.tsx';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  /** `to`: the page to go to afterwards, within the console. */
  validateSearch: ({ to }: Record<string, unknown>) =>
    optional({ to: typeof to === 'string' && /^\/(?![/\\])/.test(to) ? to : undefined }),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
