import { queryOptions, useQuery } from '@tanstack/react-query';

/** What the service tells the console of the installation (`src/http/console.ts`). */
interface ConsoleConfig {
  version: string;
  temporal_workflows_url: string | null;
}

const configQuery = queryOptions({
  queryKey: ['console-config'],
  queryFn: async ({ signal }): Promise<ConsoleConfig> => (await fetch('/console/config.json', { signal })).json(),
  staleTime: Number.POSITIVE_INFINITY,
});

export function useConfig(): ConsoleConfig | undefined {
  return useQuery(configQuery).data;
}
