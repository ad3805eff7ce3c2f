import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Parent of the list and each monitor: otherwise the path of a monitor would also match the list. */
export const monitorsFolder = createRoute({ getParentRoute: () => shellRoute, path: '/monitors' });

export const monitorsRoute = createRoute({
  getParentRoute: () => monitorsFolder,
  path: '/',
  component: lazyRouteComponent(() => import('./monitors-page.tsx'), 'MonitorsPage'),
});

/** The name of a monitor can contain slashes, so it is the rest of the path. */
export const monitorRoute = createRoute({
  getParentRoute: () => monitorsFolder,
  path: '$',
  component: lazyRouteComponent(() => import('./monitor-page.tsx'), 'MonitorPage'),
});
