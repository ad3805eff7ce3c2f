import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const RELEASE_STATES = [
  'in_progress',
  'awaiting_approval',
  'paused',
  'baking',
  'succeeded',
  'rolled_back',
  'rejected',
  'failed',
  'superseded',
  'canceled',
] as const;

export const NUMBER_UNITS = ['minute', 'hour', 'day'] as const;

export const releasesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/releases',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt_name: text(search['prompt_name']),
      label: text(search['label']),
      status: oneOf(search['status'], RELEASE_STATES),
    }),
  component: lazyRouteComponent(() => import('./releases-page.tsx'), 'ReleasesPage'),
});

export const newReleaseRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/releases/new',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt: text(search['prompt']),
      label: text(search['label']),
      version: version(search['version']),
    }),
  component: lazyRouteComponent(() => import('./new-release-page.tsx'), 'NewReleasePage'),
});

export const releaseRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/releases/$id',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      /** The unit of the charts; default: by the age of the release. */
      per: oneOf(search['per'], NUMBER_UNITS),
    }),
  component: lazyRouteComponent(() => import('./release-page.tsx'), 'ReleasePage'),
});
