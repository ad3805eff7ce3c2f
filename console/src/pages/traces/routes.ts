import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { TraceFilterName } from '../../api-types.ts';
import { oneOf, optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';
import { commonFilterOf } from '../executions/routes.ts';

/** Orders of the API; a minus means descending order. */
export const TRACE_SORTS = ['cost', '-cost', 'latency', '-latency', 'tokens', '-tokens', 'steps', '-steps'] as const;

export const TRACE_STATES = ['running', 'ok', 'error'] as const;

/** The filters of the list, under their API names: all that the API has. */
const filterOf = (search: Record<string, unknown>) =>
  ({
    ...commonFilterOf(search),
    status: oneOf(search['status'], TRACE_STATES),
    name: text(search['name']),
    tool: text(search['tool']),
    agent: text(search['agent']),
    user_id: text(search['user_id']),
    conversation_id: text(search['conversation_id']),
    service: text(search['service']),
    environment: text(search['environment']),
    tag: text(search['tag']),
    min_steps: text(search['min_steps']),
    min_errors: text(search['min_errors']),
    settled: oneOf(text(search['settled']), ['true', 'false'] as const),
  }) satisfies Record<TraceFilterName, unknown>;

export const tracesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/traces',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      ...filterOf(search),
      /** Undefined for newest first. */
      order: oneOf(search['order'], TRACE_SORTS),
      /** The id of the trace shown next to the list. */
      open: text(search['open']),
    }),
  component: lazyRouteComponent(() => import('./traces-page.tsx'), 'TracesPage'),
});

export const traceRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/traces/$id',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      /** The id of the shown step. */
      step: text(search['step']),
    }),
  component: lazyRouteComponent(() => import('./trace-page.tsx'), 'TracePage'),
});

/** The id of a conversation can contain slashes: it is the rest of the path. */
export const conversationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/conversations/$',
  component: lazyRouteComponent(() => import('./conversation-page.tsx'), 'ConversationPage'),
});
