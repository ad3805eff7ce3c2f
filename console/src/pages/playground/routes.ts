import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { optional, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt: text(search['prompt']),
      version: version(search['version']),
      /** An execution to begin with, in place of a prompt. */
      execution: text(search['execution']),
    }),
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});
