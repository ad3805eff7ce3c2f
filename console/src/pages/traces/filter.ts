import { dayStart } from '../../format.ts';
import { t } from '../../strings.ts';
import type { tracesRoute } from './routes.ts';

/** The search parameters of the list. */
export type TracesSearch = (typeof tracesRoute)['types']['fullSearchSchema'];

/** Only the filters. */
export type TracesFilter = Omit<TracesSearch, 'order' | 'open'>;

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
  release: t('Release'),
  arm: t('Arm'),
  metadata: t('Metadata'),
  min_cost: t('Cost from $'),
  max_cost: t('Cost to $'),
  min_latency_ms: t('Duration from ms'),
  max_latency_ms: t('Duration to ms'),
  min_steps: t('Steps from'),
  since: t('From'),
  until: t('To'),
} as const satisfies Record<keyof TracesFilter, string>;

export type FilterName = keyof TracesFilter;
export const FILTER_NAMES = Object.keys(FILTER_LABELS) as FilterName[];

/** No filters. All names are present, because the router keeps omitted ones. */
export const NO_FILTER = Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined])) as {
  [Name in FilterName]?: undefined;
};

/** The filters as query parameters of the API. */
export function queryOf({ order: _order, open: _open, ...filter }: TracesSearch) {
  return { ...filter, since: dayStart(filter.since), until: dayStart(filter.until, 1) };
}
