import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

/** What pages are made of, in every state. While the console is developed, and not in a build. */
export const componentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/components',
  component: lazyRouteComponent(() => import('./components-page.tsx'), 'ComponentsPage'),
});
