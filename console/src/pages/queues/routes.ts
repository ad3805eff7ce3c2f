import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Above the list and each queue: by itself, the path of a queue would be that of the list, too. */
export const queuesFolder = createRoute({ getParentRoute: () => shellRoute, path: '/queues' });

export const queuesRoute = createRoute({
  getParentRoute: () => queuesFolder,
  path: '/',
  component: lazyRouteComponent(() => import('./queues-page.tsx'), 'QueuesPage'),
});

/** The name of a queue may hold slashes: it is all that follows. */
export const queueRoute = createRoute({
  getParentRoute: () => queuesFolder,
  path: '$',
  component: lazyRouteComponent(() => import('./queue-page.tsx'), 'QueuePage'),
});

/** Where its items are scored. */
export const reviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/review/$',
  component: lazyRouteComponent(() => import('./review-page.tsx'), 'ReviewPage'),
});
