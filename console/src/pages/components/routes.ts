import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

/** A gallery of components in every state. Only in development, not in a build. */
export const componentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/components',
  component: lazyRouteComponent(() => import('./components-page.tsx'), 'ComponentsPage'),
});
