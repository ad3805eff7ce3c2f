import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { optional } from '../../search.ts';
import { rootRoute } from '../../shell/root-route.tsx';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  /**
   * `to`: the console page to open afterwards. `error`, `provider`: a failed sign-in there. `by=key`: shows the key field even if it is
   * normally hidden, for emergencies.
   */
  validateSearch: ({ to, error, provider, by }: Record<string, unknown>) =>
    optional({
      to: typeof to === 'string' && /^\/(?![/\\])/.test(to) ? to : undefined,
      error: typeof error === 'string' ? error : undefined,
      provider: typeof provider === 'string' ? provider : undefined,
      by: by === 'key' ? by : undefined,
    }),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
