import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { executionRoute, executionsRoute } from './pages/executions/routes.ts';
import { playgroundRoute } from './pages/playground/routes.ts';
import { promptRoute } from './pages/prompt/routes.ts';
import { homeRoute, promptsFolder, promptsRoute } from './pages/prompts/routes.ts';
import { signInRoute } from './pages/sign-in/routes.ts';
import { rootRoute } from './shell/root-route.tsx';
import { shellRoute } from './shell/shell-route.tsx';

/** Every page has its routes here. */
const routeTree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([
    homeRoute,
    promptsFolder.addChildren([promptsRoute, promptRoute]),
    playgroundRoute,
    executionsRoute,
    executionRoute,
  ]),
]);

export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/console',
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
