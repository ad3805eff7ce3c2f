import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { ExecutionFilterName } from '../../api-types.ts';
import { oneOf, optional, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const EXECUTION_STATES = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;

/** Orders of the API; a minus means descending order. */
export const SORTS = ['cost', '-cost', 'latency', '-latency', 'tokens', '-tokens'] as const;

export const ARMS = ['stable', 'candidate'] as const;

/** The filters that the lists of executions and traces have, under their API names. */
export const commonFilterOf = (search: Record<string, unknown>) => ({
  /** Words and phrases. */
  q: text(search['q']),
  prompt_name: text(search['prompt_name']),
  prompt_version: version(search['prompt_version']),
  /** A folder of prompts. */
  group: text(search['group']),
  model: text(search['model']),
  /** The id of a release, and one of its arms. */
  release: text(search['release']),
  arm: oneOf(search['arm'], ARMS),
  /** A condition: `helpful=false`, `tone<0.5`. */
  score: text(search['score']),
  /** `customer=acme` */
  metadata: text(search['metadata']),
  /** US dollars. */
  min_cost: text(search['min_cost']),
  max_cost: text(search['max_cost']),
  min_latency_ms: text(search['min_latency_ms']),
  max_latency_ms: text(search['max_latency_ms']),
  /** Days in the zone of the browser, both inclusive. */
  since: text(search['since']),
  until: text(search['until']),
});

/** The filters of the list under their API names: all that the API has. */
const filterOf = (search: Record<string, unknown>) =>
  ({
    ...commonFilterOf(search),
    status: oneOf(search['status'], EXECUTION_STATES),
    label: text(search['label']),
    recorded: oneOf(text(search['recorded']), ['true', 'false'] as const),
    error_code: text(search['error_code']),
    /** The start of the id. */
    id: text(search['id']),
    trace_id: text(search['trace_id']),
  }) satisfies Record<ExecutionFilterName, unknown>;

export const executionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/executions',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      ...filterOf(search),
      /** Undefined for newest first. */
      order: oneOf(search['order'], SORTS),
      /** Comma-separated keys of columns; undefined for those saved in this browser. */
      columns: text(search['columns']),
      /** The id of the execution shown next to the list. */
      open: text(search['open']),
    }),
  component: lazyRouteComponent(() => import('./executions-page.tsx'), 'ExecutionsPage'),
});

export const executionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/executions/$id',
  component: lazyRouteComponent(() => import('./execution-page.tsx'), 'ExecutionPage'),
});
