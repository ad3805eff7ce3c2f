import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

export const schedulesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/schedules',
  component: lazyRouteComponent(() => import('./schedules-page.tsx'), 'SchedulesPage'),
});

export const newScheduleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/schedules/new',
  component: lazyRouteComponent(() => import('./new-schedule-page.tsx'), 'NewSchedulePage'),
});

export const scheduleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/schedules/$id',
  component: lazyRouteComponent(() => import('./schedule-page.tsx'), 'SchedulePage'),
});
