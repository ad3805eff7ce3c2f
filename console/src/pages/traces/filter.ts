import type { TraceFilterName } from '../../api-types.ts';
import type { FilterSpecs } from '../../components/filter-spec.ts';
import { dayStart } from '../../format.ts';
import { t } from '../../strings.ts';
import { ARMS } from '../executions/routes.ts';
import { TRACE_STATES, type tracesRoute } from './routes.ts';

/** The search parameters of the list. */
export type TracesSearch = (typeof tracesRoute)['types']['fullSearchSchema'];

/** Only the filters. */
export type TracesFilter = Omit<TracesSearch, 'order' | 'open'>;

/** Each filter of the API as it is typed, in the order of the chips. */
export const FILTERS = {
  status: { label: 'Status', word: 'status', values: TRACE_STATES },
  settled: {
    label: 'Steps',
    word: 'settled',
    values: ['true', 'false'],
    words: { true: t('all there'), false: t('more expected') },
  },
  name: { label: 'Name', word: 'name' },
  prompt_name: { label: 'Prompt', word: 'prompt' },
  prompt_version: { label: 'Version', word: 'version', kind: 'whole' },
  group: { label: 'Folder', word: 'folder', example: 'support' },
  model: { label: 'Model', word: 'model' },
  tool: { label: 'Tool', word: 'tool' },
  agent: { label: 'Agent', word: 'agent' },
  user_id: { label: 'User', word: 'user' },
  conversation_id: { label: 'Conversation', word: 'conversation' },
  service: { label: 'Service', word: 'service' },
  environment: { label: 'Environment', word: 'environment' },
  tag: { label: 'Tag', word: 'tag' },
  release: { label: 'Release', word: 'release' },
  arm: { label: 'Arm', word: 'arm', values: ARMS },
  score: { label: 'Score', word: 'score', example: 'helpful=false' },
  metadata: { label: 'Metadata', word: 'metadata', example: 'customer=acme' },
  min_cost: { label: 'Cost $', word: 'cost', operator: '>=', kind: 'dollars', example: '0.01' },
  max_cost: { label: 'Cost $', word: 'cost', operator: '<=', kind: 'dollars', example: '1' },
  min_latency_ms: { label: 'Duration ms', word: 'duration', operator: '>=', kind: 'ms', example: '2s' },
  max_latency_ms: { label: 'Duration ms', word: 'duration', operator: '<=', kind: 'ms', example: '500ms' },
  min_steps: { label: 'Steps', word: 'steps', operator: '>=', kind: 'whole', example: '5' },
  min_errors: { label: 'Errors', word: 'errors', operator: '>=', kind: 'whole', example: '1' },
  since: { label: 'From', word: 'since', kind: 'day' },
  until: { label: 'To', word: 'until', kind: 'day' },
} as const satisfies FilterSpecs<Exclude<TraceFilterName, 'q'>>;

export type FilterName = 'q' | keyof typeof FILTERS;
export const FILTER_NAMES = ['q', ...Object.keys(FILTERS)] as FilterName[];

/** No filters. All names are present, because the router keeps omitted ones. */
export const NO_FILTER = Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined])) as {
  [Name in FilterName]?: undefined;
};

/** The filters as query parameters of the API. */
export function queryOf({ order: _order, open: _open, ...filter }: TracesSearch) {
  return { ...filter, since: dayStart(filter.since), until: dayStart(filter.until, 1) };
}
