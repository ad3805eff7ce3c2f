import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Above the list and each monitor: by itself, the path of a monitor would be that of the list, too. */
export const monitorsFolder = createRoute({ getParentRoute: () => shellRoute, path: '/monitors' });

export const monitorsRoute = createRoute({
  getParentRoute: () => monitorsFolder,
  path: '/',
  component: lazyRouteComponent(() => import('./monitors-page.tsx'), 'MonitorsPage'),
});

/** The name of a monitor may hold slashes: it is all that follows. */
export const monitorRoute = createRoute({
  getParentRoute: () => monitorsFolder,
  path: '$',
  component: lazyRouteComponent(() => import('./monitor-page.tsx'), 'MonitorPage'),
});
