import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, place, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const EVALUATION_STATES = ['scheduled', 'running', 'paused', 'completed', 'failed', 'canceled'] as const;
export const RESULT_FILTERS = ['regression', 'improvement', 'failed'] as const;

export const evaluationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt_name: text(search['prompt_name']),
      status: oneOf(search['status'], EVALUATION_STATES),
      dataset: text(search['dataset']),
      schedule_id: text(search['schedule_id']),
    }),
  component: lazyRouteComponent(() => import('./evaluations-page.tsx'), 'EvaluationsPage'),
});

export const newEvaluationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/new',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt: text(search['prompt']),
      version: version(search['version']),
      dataset: text(search['dataset']),
      /** An evaluation to begin from. */
      from: text(search['from']),
    }),
  component: lazyRouteComponent(() => import('./new-evaluation-page.tsx'), 'NewEvaluationPage'),
});

export const evaluationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/$id',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      only: oneOf(search['only'], RESULT_FILTERS),
      /** Whose score is shown and compared with `min` and `max`; default: that of the example. */
      evaluator: text(search['evaluator']),
      /** In percent, both included. */
      min: text(search['min']),
      max: text(search['max']),
      /** The `seq` of the result that is open. */
      example: place(search['example']),
    }),
  component: lazyRouteComponent(() => import('./evaluation-page.tsx'), 'EvaluationPage'),
});

export const comparisonRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/$id/compare/$other',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      show: oneOf(search['show'], ['worse', 'better']),
      /** The `seq` of the example whose texts are shown, in the run after. */
      example: place(search['example']),
    }),
  component: lazyRouteComponent(() => import('./comparison-page.tsx'), 'ComparisonPage'),
});
