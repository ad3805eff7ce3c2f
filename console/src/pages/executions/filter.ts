import type { ExecutionFilterName } from '../../api-types.ts';
import type { FilterSpecs } from '../../components/filter-spec.ts';
import { dayStart } from '../../format.ts';
import { t } from '../../strings.ts';
import { ARMS, EXECUTION_STATES, type executionsRoute } from './routes.ts';

/** The search parameters of the list. */
export type ExecutionsSearch = (typeof executionsRoute)['types']['fullSearchSchema'];

/** Only the filters. */
export type ExecutionsFilter = Omit<ExecutionsSearch, 'order' | 'columns' | 'open'>;

/** Each filter of the API as it is typed, in the order of the chips. */
export const FILTERS = {
  prompt_name: { label: 'Prompt', word: 'prompt' },
  prompt_version: { label: 'Version', word: 'version', kind: 'whole' },
  group: { label: 'Folder', word: 'folder', example: 'support' },
  status: { label: 'Status', word: 'status', values: EXECUTION_STATES },
  model: { label: 'Model', word: 'model' },
  label: { label: 'Label', word: 'label' },
  release: { label: 'Release', word: 'release' },
  arm: { label: 'Arm', word: 'arm', values: ARMS },
  recorded: {
    label: 'Origin',
    word: 'recorded',
    values: ['true', 'false'],
    words: { true: t('made elsewhere'), false: t('made here') },
  },
  error_code: { label: 'Error', word: 'error' },
  score: { label: 'Score', word: 'score', example: 'tone<0.5' },
  metadata: { label: 'Metadata', word: 'metadata', example: 'customer=acme' },
  min_cost: { label: 'Cost $', word: 'cost', operator: '>=', kind: 'dollars', example: '0.01' },
  max_cost: { label: 'Cost $', word: 'cost', operator: '<=', kind: 'dollars', example: '1' },
  min_latency_ms: { label: 'Duration ms', word: 'duration', operator: '>=', kind: 'ms', example: '2s' },
  max_latency_ms: { label: 'Duration ms', word: 'duration', operator: '<=', kind: 'ms', example: '500ms' },
  id: { label: 'Id', word: 'id', example: 'exec_0198f0' },
  trace_id: { label: 'Trace', word: 'trace' },
  since: { label: 'From', word: 'since', kind: 'day' },
  until: { label: 'To', word: 'until', kind: 'day' },
} as const satisfies FilterSpecs<Exclude<ExecutionFilterName, 'q'>>;

export type FilterName = 'q' | keyof typeof FILTERS;
export const FILTER_NAMES = ['q', ...Object.keys(FILTERS)] as FilterName[];

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
  const { q, id, trace_id, score, metadata, recorded, min_latency_ms, max_latency_ms, ...filter } = queryOf(search);
  if (q !== undefined || id !== undefined || trace_id !== undefined) return undefined;
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
