import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Above the list and each prompt: by itself, the path of a prompt would be that of the list, too. */
export const promptsFolder = createRoute({ getParentRoute: () => shellRoute, path: '/prompts' });

export const promptsRoute = createRoute({
  getParentRoute: () => promptsFolder,
  path: '/',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      q: text(search['q']),
      /** The folder. */
      group: text(search['group']),
      label: text(search['label']),
      /** The name of a prompt that they include. */
      includes: text(search['includes']),
      archived: oneOf(search['archived'], ['true', 'all']),
      /** The dialog that is open. */
      dialog: oneOf(search['dialog'], ['new']),
    }),
  component: lazyRouteComponent(() => import('./prompts-page.tsx'), 'PromptsPage'),
});
