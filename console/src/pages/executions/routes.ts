import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const EXECUTION_STATES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;

/** By what the API sorts; with a minus the greatest come first. */
export const SORTS = ['cost', '-cost', 'latency', '-latency', 'tokens', '-tokens'] as const;

export const ARMS = ['stable', 'candidate'] as const;

/** The filters of the list, as the API names them. */
const filterOf = (search: Record<string, unknown>) => ({
  /** Words and phrases. */
  q: text(search['q']),
  prompt_name: text(search['prompt_name']),
  prompt_version: version(search['prompt_version']),
  status: oneOf(search['status'], EXECUTION_STATES),
  model: text(search['model']),
  label: text(search['label']),
  /** The id of a release, and which of its versions. */
  release: text(search['release']),
  arm: oneOf(search['arm'], ARMS),
  recorded: oneOf(text(search['recorded']), ['true', 'false'] as const),
  error_code: text(search['error_code']),
  /** A condition: `helpful=false`, `tone<0.5`. */
  score: text(search['score']),
  /** `customer=acme` */
  metadata: text(search['metadata']),
  /** US dollars. */
  min_cost: text(search['min_cost']),
  max_cost: text(search['max_cost']),
  min_latency_ms: text(search['min_latency_ms']),
  max_latency_ms: text(search['max_latency_ms']),
  /** How the id begins. */
  id: text(search['id']),
  /** Days, in the zone of the browser; both are included. */
  since: text(search['since']),
  until: text(search['until']),
});

export const executionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/executions',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      ...filterOf(search),
      /** Undefined: newest first. */
      order: oneOf(search['order'], SORTS),
      /** Keys of columns, with commas between them; undefined: those that this browser keeps. */
      columns: text(search['columns']),
      /** The id of the execution that is shown beside the list. */
      open: text(search['open']),
    }),
  component: lazyRouteComponent(() => import('./executions-page.tsx'), 'ExecutionsPage'),
});

export const executionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/executions/$id',
  component: lazyRouteComponent(() => import('./execution-page.tsx'), 'ExecutionPage'),
});
