import { dayStart } from '../../format.ts';
import { t } from '../../strings.ts';
import type { executionsRoute } from './routes.ts';

/** The search parameters of the list. */
export type ExecutionsSearch = (typeof executionsRoute)['types']['fullSearchSchema'];

/** Only the filters. */
export type ExecutionsFilter = Omit<ExecutionsSearch, 'order' | 'columns' | 'open'>;

/** The label of each filter, in the order of the chips. */
export const FILTER_LABELS = {
  q: t('Search'),
  prompt_name: t('Prompt'),
  prompt_version: t('Version'),
  status: t('Status'),
  model: t('Model'),
  label: 'Label',
  release: t('Release'),
  arm: t('Arm'),
  recorded: t('Origin'),
  error_code: t('Error'),
  score: t('Score'),
  metadata: t('Metadata'),
  min_cost: t('Cost from $'),
  max_cost: t('Cost to $'),
  min_latency_ms: t('Duration from ms'),
  max_latency_ms: t('Duration to ms'),
  id: t('Id'),
  since: t('From'),
  until: t('To'),
} as const satisfies Record<keyof ExecutionsFilter, string>;

export type FilterName = keyof typeof FILTER_LABELS;
export const FILTER_NAMES = Object.keys(FILTER_LABELS) as FilterName[];

/** Labels for values that are not words. */
export const valueWords = (name: string, value: string): string =>
  name === 'recorded' ? (value === 'true' ? t('made elsewhere') : t('made here')) : value;

/** The filters that are set. */
export const givenFilters = (search: ExecutionsSearch): FilterName[] =>
  FILTER_NAMES.filter((name) => search[name] !== undefined);

/** No filters. Each is listed because the router keeps omitted parameters. */
export const NO_FILTER = Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined])) as {
  [Name in FilterName]?: undefined;
};

/** The filters as a query string of the API. */
export function queryOf(search: ExecutionsSearch) {
  const { order: _order, columns: _columns, open: _open, ...filter } = search;
  return { ...filter, since: dayStart(search.since), until: dayStart(search.until, 1) };
}

/** The filters as a body of the API; undefined if some are only supported by the list. */
export function bodyOf(search: ExecutionsSearch): Record<string, unknown> | undefined {
  const { q, id, score, metadata, recorded, min_latency_ms, max_latency_ms, ...filter } = queryOf(search);
  if (q !== undefined || id !== undefined) return undefined;
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const at = metadata?.indexOf('=') ?? -1;
  return {
    ...filter,
    score: score === undefined ? undefined : [score],
    metadata: metadata === undefined || at < 0 ? undefined : { [metadata.slice(0, at)]: metadata.slice(at + 1) },
    recorded: recorded === undefined ? undefined : recorded === 'true',
    min_latency_ms: number(min_latency_ms),
    max_latency_ms: number(max_latency_ms),
  };
}
