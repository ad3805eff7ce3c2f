import { ARMS } from '../pages/executions/routes.ts';
import { SelectField } from './fields.tsx';
import { FilterField } from './filter-field.tsx';

interface OfRelease {
  release?: string | undefined;
  arm?: (typeof ARMS)[number] | undefined;
}

/** Filters by the release that chose a version, and by its arm. */
export function ReleaseFilters({ search, onChange }: { search: OfRelease; onChange: (part: OfRelease) => void }) {
  return (
    <>
      <FilterField label="Release" value={search.release} onChange={(release) => onChange({ release })} />
      <SelectField
        label="Arm"
        value={search.arm ?? ''}
        onChange={(arm) => onChange({ arm: ARMS.find((each) => each === arm) })}
        options={[{ value: '', label: 'Any' }, ...ARMS]}
      />
    </>
  );
}
