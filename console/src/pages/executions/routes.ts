import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const EXECUTION_STATES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;

export const ARMS = ['stable', 'candidate'] as const;

export const executionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/executions',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt_name: text(search['prompt_name']),
      status: oneOf(search['status'], EXECUTION_STATES),
      model: text(search['model']),
      /** The id of a release, and which of its versions. */
      release: text(search['release']),
      arm: oneOf(search['arm'], ARMS),
      /** A condition: `helpful=false`, `tone<0.5`. */
      score: text(search['score']),
      /** Days, in the zone of the browser; both are included. */
      since: text(search['since']),
      until: text(search['until']),
    }),
  component: lazyRouteComponent(() => import('./executions-page.tsx'), 'ExecutionsPage'),
});

export const executionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/executions/$id',
  component: lazyRouteComponent(() => import('./execution-page.tsx'), 'ExecutionPage'),
});
