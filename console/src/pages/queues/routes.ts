import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Parent of the list and each queue: otherwise the path of a queue would also match the list. */
export const queuesFolder = createRoute({ getParentRoute: () => shellRoute, path: '/queues' });

export const queuesRoute = createRoute({
  getParentRoute: () => queuesFolder,
  path: '/',
  component: lazyRouteComponent(() => import('./queues-page.tsx'), 'QueuesPage'),
});

/** The name of a queue can contain slashes, so it is the rest of the path. */
export const queueRoute = createRoute({
  getParentRoute: () => queuesFolder,
  path: '$',
  component: lazyRouteComponent(() => import('./queue-page.tsx'), 'QueuePage'),
});

/** The page for scoring its items. */
export const reviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/review/$',
  component: lazyRouteComponent(() => import('./review-page.tsx'), 'ReviewPage'),
});
