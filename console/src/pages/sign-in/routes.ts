import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../shell/root-route.tsx';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  /** `to`: the page to go to afterwards, within the console. */
  validateSearch: ({ to }: Record<string, unknown>): { to?: string } =>
    typeof to === 'string' && /^\/(?![/\\])/.test(to) ? { to } : {},
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
});
