import { SelectField } from '../../components/fields.tsx';
import { FilterField } from '../../components/filter-field.tsx';
import { ListFilters } from '../../components/list-filters.tsx';
import { ReleaseFilters } from '../../components/release-filters.tsx';
import { type ExecutionsSearch, FILTER_LABELS, type FilterName, valueWords } from './filter.ts';
import { EXECUTION_STATES } from './routes.ts';

/** Filters that are always visible. */
const FIRST: readonly FilterName[] = ['q', 'prompt_name', 'status', 'since', 'until'];

/** The filters of the list. */
export function ExecutionFilters({
  search,
  onChange,
}: {
  search: ExecutionsSearch;
  onChange: (part: Partial<ExecutionsSearch>) => void;
}) {
  return (
    <ListFilters
      search={search}
      labels={FILTER_LABELS}
      inView={FIRST}
      words={valueWords}
      onChange={onChange}
      more={<MoreFilters search={search} onChange={onChange} />}
    >
      <div className="list-search">
        <FilterField label="Search inputs and outputs" value={search.q} onChange={(q) => onChange({ q })} />
      </div>
      <FilterField
        label="Prompt"
        value={search.prompt_name}
        onChange={(prompt_name) => onChange({ prompt_name, prompt_version: undefined })}
      />
      <SelectField
        label="Status"
        value={search.status ?? ''}
        onChange={(status) => onChange({ status: EXECUTION_STATES.find((each) => each === status) })}
        options={[{ value: '', label: 'Any' }, ...EXECUTION_STATES]}
      />
      <FilterField label="From" type="date" value={search.since} onChange={(since) => onChange({ since })} />
      <FilterField label="To" type="date" value={search.until} onChange={(until) => onChange({ until })} />
    </ListFilters>
  );
}

function MoreFilters({
  search,
  onChange,
}: {
  search: ExecutionsSearch;
  onChange: (part: Partial<ExecutionsSearch>) => void;
}) {
  return (
    <>
      <FilterField label="Model" value={search.model} onChange={(model) => onChange({ model })} />
      <FilterField label="Label" value={search.label} onChange={(label) => onChange({ label })} />
      <FilterField label="Score, such as tone<0.5" value={search.score} onChange={(score) => onChange({ score })} />
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
      <FilterField label="Error" value={search.error_code} onChange={(error_code) => onChange({ error_code })} />
      <FilterField label="Id, or how it begins" value={search.id} onChange={(id) => onChange({ id })} />
      <ReleaseFilters search={search} onChange={onChange} />
    </>
  );
}
