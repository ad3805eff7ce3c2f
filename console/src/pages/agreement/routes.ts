import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { optional, text } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const agreementRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agreement',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      score: text(search['score']),
      /** `true`: scores of end users count, too. */
      feedback: text(search['feedback']),
      /** `true`: the categories of the definition are ordered. */
      ordered: text(search['ordered']),
    }),
  component: lazyRouteComponent(() => import('./agreement-page.tsx'), 'AgreementPage'),
});
