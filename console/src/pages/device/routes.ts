import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const deviceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/device',
  /** `code`: the code shown by the program. */
  validateSearch: (search: Record<string, unknown>) => optional({ code: text(search['code']) }),
  component: lazyRouteComponent(() => import('./device-page.tsx'), 'DevicePage'),
});
