import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { given, oneOf, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/prompts', replace: true });
  },
});

export const promptsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prompts',
  validateSearch: (search: Record<string, unknown>) =>
    given({
      q: text(search['q']),
      /** The folder. */
      group: text(search['group']),
      label: text(search['label']),
      archived: oneOf(search['archived'], ['true', 'all']),
    }),
  component: lazyRouteComponent(() => import('./prompts-page.tsx'), 'PromptsPage'),
});
