import { queryOptions, useQuery } from '@tanstack/react-query';

/** The settings of the installation from the service (`src/http/console.ts`). */
interface ConsoleConfig {
  version: string;
  temporal_workflows_url: string | null;
  sign_in: { providers: IdentityProvider[]; by_key: boolean };
}

/** A provider for signing in. */
export interface IdentityProvider {
  id: string;
  name: string;
}

const configQuery = queryOptions({
  queryKey: ['console-config'],
  queryFn: async ({ signal }): Promise<ConsoleConfig> => (await fetch('/console/config.json', { signal })).json(),
  staleTime: Number.POSITIVE_INFINITY,
});

export function useConfig(): ConsoleConfig | undefined {
  return useQuery(configQuery).data;
}
