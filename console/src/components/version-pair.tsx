import { SelectField } from './fields.tsx';

/** Selects two versions to compare. */
export function VersionPair({
  latest,
  from,
  to,
  onChange,
}: {
  /** The number of the newest version; the first is 1. */
  latest: number;
  from: number;
  to: number;
  onChange: (chosen: { from?: number; to?: number }) => void;
}) {
  const numbers = Array.from({ length: latest }, (_, index) => String(latest - index));
  return (
    <div className="filters">
      <SelectField
        label="Compare version"
        value={String(from)}
        onChange={(chosen) => onChange({ from: Number(chosen) })}
        options={numbers}
      />
      <SelectField
        label="with version"
        value={String(to)}
        onChange={(chosen) => onChange({ to: Number(chosen) })}
        options={numbers}
      />
    </div>
  );
}
