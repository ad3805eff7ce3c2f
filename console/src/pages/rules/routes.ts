import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Above the list and each rule: by itself, the path of a rule would be that of the list, too. */
export const rulesFolder = createRoute({ getParentRoute: () => shellRoute, path: '/rules' });

export const rulesRoute = createRoute({
  getParentRoute: () => rulesFolder,
  path: '/',
  component: lazyRouteComponent(() => import('./rules-page.tsx'), 'RulesPage'),
});

/** The name of a rule may hold slashes: it is all that follows. */
export const ruleRoute = createRoute({
  getParentRoute: () => rulesFolder,
  path: '$',
  component: lazyRouteComponent(() => import('./rule-page.tsx'), 'RulePage'),
});
