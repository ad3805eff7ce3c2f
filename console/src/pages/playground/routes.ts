import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { optional, place, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

const toSearch = (search: Record<string, unknown>) =>
  optional({
    prompt: text(search['prompt']),
    version: version(search['version']),
    /** An execution to begin with, in place of a prompt. */
    execution: text(search['execution']),
    /** An example of an evaluation to begin with: the id of the evaluation, and the `seq` of the example. */
    evaluation: text(search['evaluation']),
    example: place(search['example']),
  });
export type PlaygroundSearch = ReturnType<typeof toSearch>;

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: toSearch,
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});
