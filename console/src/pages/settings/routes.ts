import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

/** All tabs except the first, which shows the keys. */
export const TABS = ['my-keys', 'members', 'workspaces', 'labels', 'providers', 'sessions', 'audit'] as const;

export const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      tab: oneOf(search['tab'], TABS),
      /** Filters of members. */
      search: text(search['search']),
      status: oneOf(search['status'], ['active', 'suspended', 'removed']),
      /** Filters of the audit log; days are in the zone of the browser, both inclusive. */
      actor: text(search['actor']),
      action: text(search['action']),
      resource: text(search['resource']),
      since: text(search['since']),
      until: text(search['until']),
    }),
  component: lazyRouteComponent(() => import('./settings-page.tsx'), 'SettingsPage'),
});
