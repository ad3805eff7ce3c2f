import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListFilters } from '../../components/list-filters.tsx';
import { ReleaseFilters } from '../../components/release-filters.tsx';
import { FILTER_LABELS, type FilterName, type TracesSearch } from './filter.ts';
import { TRACE_STATES } from './routes.ts';

/** Filters that are always visible. */
const FIRST: readonly FilterName[] = ['q', 'prompt_name', 'status', 'since', 'until'];

/** The filters of the list. */
export function TraceFilters({ search, onChange }: { search: TracesSearch; onChange: (part: TracesSearch) => void }) {
  return (
    <ListFilters
      search={search}
      labels={FILTER_LABELS}
      inView={FIRST}
      onChange={onChange}
      more={<MoreFilters search={search} onChange={onChange} />}
    >
      <div className="list-search">
        <FilterField label="Search names, inputs and outputs" value={search.q} onChange={(q) => onChange({ q })} />
      </div>
      <FilterField label="Prompt" value={search.prompt_name} onChange={(prompt_name) => onChange({ prompt_name })} />
      <SelectField
        label="Status"
        value={search.status ?? ''}
        onChange={(status) => onChange({ status: TRACE_STATES.find((each) => each === status) })}
        options={[{ value: '', label: 'Any' }, ...TRACE_STATES]}
      />
      <FilterField label="From" type="date" value={search.since} onChange={(since) => onChange({ since })} />
      <FilterField label="To" type="date" value={search.until} onChange={(until) => onChange({ until })} />
    </ListFilters>
  );
}

function MoreFilters({ search, onChange }: { search: TracesSearch; onChange: (part: TracesSearch) => void }) {
  return (
    <>
      <FilterField label="Name" value={search.name} onChange={(name) => onChange({ name })} />
      <FilterField label="Model" value={search.model} onChange={(model) => onChange({ model })} />
      <FilterField label="Tool" value={search.tool} onChange={(tool) => onChange({ tool })} />
      <FilterField label="Agent" value={search.agent} onChange={(agent) => onChange({ agent })} />
      <FilterField label="User" value={search.user_id} onChange={(user_id) => onChange({ user_id })} />
      <FilterField
        label="Conversation"
        value={search.conversation_id}
        onChange={(conversation_id) => onChange({ conversation_id })}
      />
      <FilterField label="Service" value={search.service} onChange={(service) => onChange({ service })} />
      <FilterField
        label="Environment"
        value={search.environment}
        onChange={(environment) => onChange({ environment })}
      />
      <FilterField label="Tag" value={search.tag} onChange={(tag) => onChange({ tag })} />
      <ReleaseFilters search={search} onChange={onChange} />
      <FilterField
        label="Metadata, as customer=acme"
        value={search.metadata}
        onChange={(metadata) => onChange({ metadata })}
      />
      <FilterField label="Cost from, in $" value={search.min_cost} onChange={(min_cost) => onChange({ min_cost })} />
      <FilterField label="Cost to, in $" value={search.max_cost} onChange={(max_cost) => onChange({ max_cost })} />
      <FilterField
        label="Duration from, in ms"
        value={search.min_latency_ms}
        onChange={(min_latency_ms) => onChange({ min_latency_ms })}
      />
      <FilterField
        label="Duration to, in ms"
        value={search.max_latency_ms}
        onChange={(max_latency_ms) => onChange({ max_latency_ms })}
      />
      <FilterField label="Steps, at least" value={search.min_steps} onChange={(min_steps) => onChange({ min_steps })} />
    </>
  );
}
