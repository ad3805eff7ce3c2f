import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { EVENT_TYPES } from '../../../../clients/typescript/src/generated/values.gen.ts';
import { oneOf, optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const DELIVERY_STATES = ['queued', 'waiting', 'delivered', 'failed', 'abandoned'] as const;

export const webhooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      tab: oneOf(search['tab'], ['notifications']),
      status: oneOf(search['status'], ['enabled', 'disabled']),
    }),
  component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
});

export const webhookRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$id',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      status: oneOf(search['status'], DELIVERY_STATES),
      event: oneOf(search['event'], EVENT_TYPES),
      /** The open delivery. */
      delivery: text(search['delivery']),
    }),
  component: lazyRouteComponent(() => import('./webhook-page.tsx'), 'WebhookPage'),
});
