import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, place, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';
import type { ExecutionsSelection } from './run-form-state.ts';

export const EVALUATION_STATES = ['scheduled', 'running', 'paused', 'completed', 'failed', 'canceled'] as const;
export const RESULT_FILTERS = ['regression', 'improvement', 'failed'] as const;

/** A minus means descending order. */
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

const isSelection = (value: unknown): value is ExecutionsSelection =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const newEvaluationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/new',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt: text(search['prompt']),
      version: version(search['version']),
      dataset: text(search['dataset']),
      /** An evaluation to copy. */
      from: text(search['from']),
      /** Executions to run again, in API format. */
      executions: isSelection(search['executions']) ? search['executions'] : undefined,
    }),
  component: lazyRouteComponent(() => import('./new-evaluation-page.tsx'), 'NewEvaluationPage'),
});

export const evaluationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/$id',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      only: oneOf(search['only'], RESULT_FILTERS),
      /** The evaluator whose score is shown and compared with `min` and `max`; default: the example's score. */
      evaluator: text(search['evaluator']),
      /** In percent, inclusive. */
      min: text(search['min']),
      max: text(search['max']),
      /** A text to search for in the examples. */
      q: text(search['q']),
      sort_by: oneOf(search['sort_by'], RESULT_SORTS),
      /** The `seq` of the open result. */
      example: place(search['example']),
    }),
  component: lazyRouteComponent(() => import('./evaluation-page.tsx'), 'EvaluationPage'),
});

/** The kinds of examples that a comparison lists. */
export const COMPARED = ['worse', 'better', 'changed', 'all'] as const;

export const comparisonRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/$id/compare/$other',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      show: oneOf(search['show'], COMPARED),
      /** Default: largest loss first. */
      order: oneOf(search['order'], ['examples']),
      /** The evaluator whose scores are compared; default: the examples' scores. */
      evaluator: text(search['evaluator']),
      /** A metadata key of the examples whose values are compared separately. */
      by: text(search['by']),
      /** Only examples with this value. */
      value: text(search['value']),
      /** The `seq`, in the later run, of the example whose texts are shown. */
      example: place(search['example']),
    }),
  component: lazyRouteComponent(() => import('./comparison-page.tsx'), 'ComparisonPage'),
});

/** Maximum number of runs side by side. */
export const MOST_COLUMNS = 6;

export const columnsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/evaluations/compare',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      /** Comma-separated ids of the runs. */
      with: text(search['with']),
      /** The `seq`, in the first run, of the example whose texts are shown. */
      example: place(search['example']),
      /** Whether to mark words that the first run does not have. */
      mark: search['mark'] === true || undefined,
    }),
  component: lazyRouteComponent(() => import('./columns-page.tsx'), 'ColumnsPage'),
});
