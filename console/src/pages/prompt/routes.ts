import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { given, oneOf, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

/** The name of a prompt may hold slashes: it is all that follows. */
export const promptRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/prompts/$',
  validateSearch: (search: Record<string, unknown>) =>
    given({
      tab: oneOf(search['tab'], ['versions', 'runs']),
      /** The version to edit; default: the latest. */
      version: version(search['version']),
      /** The versions to compare. */
      from: version(search['from']),
      to: version(search['to']),
    }),
  component: lazyRouteComponent(() => import('./prompt-page.tsx'), 'PromptPage'),
});
