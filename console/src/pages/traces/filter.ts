import { dayStart } from '../../format.ts';
import { t } from '../../strings.ts';
import type { tracesRoute } from './routes.ts';

/** The search parameters of the list. */
export type TracesSearch = (typeof tracesRoute)['types']['fullSearchSchema'];

/** The label of each filter, in chip order. */
export const FILTER_LABELS = {
  q: t('Search'),
  status: t('Status'),
  name: t('Name'),
  prompt_name: t('Prompt'),
  model: t('Model'),
  tool: t('Tool'),
  agent: t('Agent'),
  user_id: t('User'),
  conversation_id: t('Conversation'),
  service: t('Service'),
  environment: t('Environment'),
  tag: t('Tag'),
  metadata: t('Metadata'),
  min_cost: t('Cost from $'),
  max_cost: t('Cost to $'),
  min_latency_ms: t('Duration from ms'),
  max_latency_ms: t('Duration to ms'),
  min_steps: t('Steps from'),
  since: t('From'),
  until: t('To'),
} as const satisfies Record<keyof TracesSearch, string>;

export type FilterName = keyof TracesSearch;

/** No filters. All names are present, because the router keeps omitted ones. */
export const NO_FILTER = Object.fromEntries(Object.keys(FILTER_LABELS).map((name) => [name, undefined])) as {
  [Name in FilterName]?: undefined;
};

/** The filters as query parameters of the API. */
export const queryOf = (search: TracesSearch) => ({
  ...search,
  since: dayStart(search.since),
  until: dayStart(search.until, 1),
});
