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
      /** The number of days; default: 30. */
      days: oneOf(text(search['days']), SPANS),
      /** What lines and rows are grouped by; default: prompt. */
      by: oneOf(search['by'], ['model'] as const),
    }),
  component: lazyRouteComponent(() => import('./usage-page.tsx'), 'UsagePage'),
});
