import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const SPANS = ['7', '30', '90'] as const;

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt_name: text(search['prompt_name']),
      model: text(search['model']),
      /** The last days that are counted; default: 30. */
      days: oneOf(text(search['days']), SPANS),
      /** What a line of the charts and a row of the table is for; default: a prompt. */
      by: oneOf(search['by'], ['model'] as const),
    }),
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
});
