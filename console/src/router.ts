import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { agreementRoute } from './pages/agreement/routes.ts';
import { componentsRoute } from './pages/components/routes.ts';
import { datasetRoute, datasetsFolder, datasetsRoute } from './pages/datasets/routes.ts';
import { deviceRoute } from './pages/device/routes.ts';
import {
  columnsRoute,
  comparisonRoute,
  evaluationRoute,
  evaluationsRoute,
  newEvaluationRoute,
} from './pages/evaluations/routes.ts';
import { executionRoute, executionsRoute } from './pages/executions/routes.ts';
import { homeRoute } from './pages/home/routes.ts';
import { improvementRoute, improvementsRoute, newImprovementRoute } from './pages/improvements/routes.ts';
import { monitorRoute, monitorsFolder, monitorsRoute } from './pages/monitors/routes.ts';
import { playgroundRoute } from './pages/playground/routes.ts';
import { promptRoute } from './pages/prompt/routes.ts';
import { promptsFolder, promptsRoute } from './pages/prompts/routes.ts';
import { queueRoute, queuesFolder, queuesRoute, reviewRoute } from './pages/queues/routes.ts';
import { newReleaseRoute, releaseRoute, releasesRoute } from './pages/releases/routes.ts';
import { ruleRoute, rulesFolder, rulesRoute } from './pages/rules/routes.ts';
import { savedEvaluatorRoute, savedEvaluatorsRoute } from './pages/saved-evaluators/routes.ts';
import { newScheduleRoute, scheduleRoute, schedulesRoute } from './pages/schedules/routes.ts';
import { settingsRoute } from './pages/settings/routes.ts';
import { signInRoute } from './pages/sign-in/routes.ts';
import { conversationRoute, traceRoute, tracesRoute } from './pages/traces/routes.ts';
import { usageRoute } from './pages/usage/routes.ts';
import { webhookRoute, webhooksRoute } from './pages/webhooks/routes.ts';
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
    tracesRoute,
    traceRoute,
    conversationRoute,
    evaluationsRoute,
    newEvaluationRoute,
    columnsRoute,
    evaluationRoute,
    comparisonRoute,
    improvementsRoute,
    newImprovementRoute,
    improvementRoute,
    datasetsFolder.addChildren([datasetsRoute, datasetRoute]),
    releasesRoute,
    newReleaseRoute,
    releaseRoute,
    schedulesRoute,
    newScheduleRoute,
    scheduleRoute,
    monitorsFolder.addChildren([monitorsRoute, monitorRoute]),
    savedEvaluatorsRoute,
    savedEvaluatorRoute,
    rulesFolder.addChildren([rulesRoute, ruleRoute]),
    agreementRoute,
    queuesFolder.addChildren([queuesRoute, queueRoute]),
    reviewRoute,
    usageRoute,
    webhooksRoute,
    webhookRoute,
    settingsRoute,
    deviceRoute,
    ...(import.meta.env.DEV ? [componentsRoute] : []),
  ]),
]);

export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/console',
    context: { queryClient },
    defaultPreload: 'intent',
    scrollRestoration: true,
    // Unknown parameters, such as `utm_source`, are dropped: pages pass theirs on to the API.
    search: { strict: true },
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
