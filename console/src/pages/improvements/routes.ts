import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, place, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const IMPROVEMENT_STATES = ['running', 'paused', 'completed', 'failed', 'canceled'] as const;

export const improvementsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/improvements',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt_name: text(search['prompt_name']),
      status: oneOf(search['status'], IMPROVEMENT_STATES),
    }),
  component: lazyRouteComponent(() => import('./improvements-page.tsx'), 'ImprovementsPage'),
});

export const newImprovementRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/improvements/new',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      prompt: text(search['prompt']),
      version: version(search['version']),
      /** An evaluation whose prompt, dataset and evaluators are taken, or an improvement to repeat. */
      from: text(search['from']),
    }),
  component: lazyRouteComponent(() => import('./new-improvement-page.tsx'), 'NewImprovementPage'),
});

export const improvementRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/improvements/$id',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      /** The number of the candidate that is shown. */
      candidate: place(search['candidate']),
    }),
  component: lazyRouteComponent(() => import('./improvement-page.tsx'), 'ImprovementPage'),
});
