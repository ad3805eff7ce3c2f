import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Parent of the list and each rule: otherwise the path of a rule would also match the list. */
export const rulesFolder = createRoute({ getParentRoute: () => shellRoute, path: '/rules' });

export const rulesRoute = createRoute({
  getParentRoute: () => rulesFolder,
  path: '/',
  component: lazyRouteComponent(() => import('./rules-page.tsx'), 'RulesPage'),
});

/** The name of a rule can contain slashes, so it is the rest of the path. */
export const ruleRoute = createRoute({
  getParentRoute: () => rulesFolder,
  path: '$',
  component: lazyRouteComponent(() => import('./rule-page.tsx'), 'RulePage'),
});
