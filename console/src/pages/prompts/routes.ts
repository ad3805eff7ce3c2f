import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Parent of the list and each prompt: otherwise the path of a prompt would also match the list. */
export const promptsFolder = createRoute({ getParentRoute: () => shellRoute, path: '/prompts' });

/** Orders of the API, and orders sorted here by the numbers of seven days. The default is by name. */
const API_SORTS = ['-name', 'updated_at', '-updated_at'] as const;
const OWN_SORTS = ['last_score', '-last_score', 'runs', '-runs', 'cost', '-cost'] as const;
const PROMPT_SORTS = [...API_SORTS, ...OWN_SORTS];
export type OwnSort = (typeof OWN_SORTS)[number];
export const isOwnSort = (sort: string): sort is OwnSort => OWN_SORTS.some((each) => each === sort);

export const promptsRoute = createRoute({
  getParentRoute: () => promptsFolder,
  path: '/',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      q: text(search['q']),
      /** The folder. */
      group: text(search['group']),
      label: text(search['label']),
      /** The name of an included prompt. */
      includes: text(search['includes']),
      archived: oneOf(search['archived'], ['true', 'all']),
      sort: oneOf(search['sort'], PROMPT_SORTS),
      /** The open dialog. */
      dialog: oneOf(search['dialog'], ['new']),
    }),
  component: lazyRouteComponent(() => import('./prompts-page.tsx'), 'PromptsPage'),
});
