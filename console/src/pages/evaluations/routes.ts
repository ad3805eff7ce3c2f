import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, place, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const EVALUATION_STATES = ['scheduled', 'running', 'paused', 'completed', 'failed', 'canceled'] as const;
export const RESULT_FILTERS = ['regression', 'improvement', 'failed'] as const;

/** With a minus the greatest come first. */
export const RESULT_SORTS = ['score', '-score', 'change', '-change', 'cost', '-cost', 'latency', '-latency'] as const;

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
      /** A text that the examples have. */
      q: text(search['q']),
      sort_by: oneOf(search['sort_by'], RESULT_SORTS),
      /** The `seq` of the result that is open. */
      example: place(search['example']),
    }),
  component: lazyRouteComponent(() => import('./evaluation-page.tsx'), 'EvaluationPage'),
});

/** Which examples of a comparison are listed. */
export const COMPARED = ['worse', 'better', 'changed', 'all'] as const;

export const comparisonRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/$id/compare/$other',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      show: oneOf(search['show'], COMPARED),
      /** Default: those that lost most come first. */
      order: oneOf(search['order'], ['examples']),
      /** Whose scores are compared; default: those of the examples. */
      evaluator: text(search['evaluator']),
      /** A key of the examples' metadata: its values are compared one by one. */
      by: text(search['by']),
      /** Only examples that have this value there. */
      value: text(search['value']),
      /** The `seq` of the example whose texts are shown, in the run after. */
      example: place(search['example']),
    }),
  component: lazyRouteComponent(() => import('./comparison-page.tsx'), 'ComparisonPage'),
});

/** Runs side by side at most. */
export const MOST_COLUMNS = 6;

export const columnsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/compare',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      /** The ids of the runs, separated by commas. */
      with: text(search['with']),
      /** The `seq` of the example whose texts are shown, in the first run. */
      example: place(search['example']),
      /** Whether words that the first run has not are marked. */
      mark: search['mark'] === true || undefined,
    }),
  component: lazyRouteComponent(() => import('./columns-page.tsx'), 'ColumnsPage'),
});
