import { statisticsRoutes } from '../api/statistics/routes.ts';
import { usageRoutes } from '../api/usage/routes.ts';
import { sumUpPromptDays } from '../jobs/sum-up-prompt-days.ts';
import { sumUpUsage } from '../jobs/sum-up-usage.ts';
import { type Capability, CLEAN_UP_EVERY_MS, SUM_UP_EVERY_MS } from './capability.ts';

export const usage: Capability = {
  name: 'usage',
  routes: () => [...usageRoutes(), ...statisticsRoutes()],
  jobs: ({ db: { system }, onUsed, log }) => [
    { name: 'sum up usage', everyMs: SUM_UP_EVERY_MS, run: () => sumUpUsage(system, onUsed) },
    {
      name: 'sum up days of prompts',
      everyMs: CLEAN_UP_EVERY_MS,
      run: (stopping) => sumUpPromptDays(system, log, stopping),
    },
  ],
};
