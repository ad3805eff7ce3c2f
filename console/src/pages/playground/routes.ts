import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { optional, place, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

const toSearch = (search: Record<string, unknown>) =>
  optional({
    prompt: text(search['prompt']),
    version: version(search['version']),
    /** An execution to start from, instead of a prompt. */
    execution: text(search['execution']),
    /** An evaluation example to start from: the id of the evaluation, and the `seq` of the example. */
    evaluation: text(search['evaluation']),
    example: place(search['example']),
    /** Whether to start from the failing examples of the evaluation, worst first. */
    failing: search['failing'] === true || undefined,
    /** The settings of the panes: `latest,3,production@provider/model`. */
    panes: text(search['panes']),
    /** The dataset of the rows, `name@version`, and their positions: `0-9,12`. */
    dataset: text(search['dataset']),
    examples: text(search['examples']),
  });
export type PlaygroundSearch = ReturnType<typeof toSearch>;

/** The address parameters that identify a playground. The others change while working in it. */
export const startOf = ({ prompt, version: chosen, execution, evaluation, example, failing }: PlaygroundSearch) => ({
  prompt,
  version: chosen,
  execution,
  evaluation,
  example,
  failing,
});

export const playgroundRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playground',
  validateSearch: toSearch,
  component: lazyRouteComponent(() => import('./playground-page.tsx'), 'PlaygroundPage'),
});
