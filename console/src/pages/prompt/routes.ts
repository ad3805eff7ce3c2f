import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, version } from '../../search.ts';
import { promptsFolder } from '../prompts/routes.ts';

/** The name of a prompt can contain slashes, so it is the rest of the path. */
export const promptRoute = createRoute({
  getParentRoute: () => promptsFolder,
  path: '$',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      tab: oneOf(search['tab'], ['versions', 'runs']),
      /** The version to edit; default: the latest. */
      version: version(search['version']),
      /** The versions to compare. */
      from: version(search['from']),
      to: version(search['to']),
    }),
  component: lazyRouteComponent(() => import('./prompt-page.tsx'), 'PromptPage'),
});
