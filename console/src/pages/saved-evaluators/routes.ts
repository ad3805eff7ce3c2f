import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { optional, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const savedEvaluatorsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluators',
  component: lazyRouteComponent(() => import('./saved-evaluators-page.tsx'), 'SavedEvaluatorsPage'),
});

export const savedEvaluatorRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluators/$name',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      /** Default: the newest one. */
      version: version(search['version']),
    }),
  component: lazyRouteComponent(() => import('./saved-evaluator-page.tsx'), 'SavedEvaluatorPage'),
});
