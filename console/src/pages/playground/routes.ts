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
    /** What the panes have: `latest,3,production@provider/model`. */
    panes: text(search['panes']),
    /** Where the rows are from, `name@version`, and which examples: `0-9,12`. */
    dataset: text(search['dataset']),
    examples: text(search['examples']),
  });
export type PlaygroundSearch = ReturnType<typeof toSearch>;

/** What of an address says which playground it is. The rest changes with what is done there. */
export const startOf = ({ prompt, version: chosen, execution, evaluation, example }: PlaygroundSearch) => ({
  prompt,
  version: chosen,
  execution,
  evaluation,
  example,
});

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: toSearch,
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});
