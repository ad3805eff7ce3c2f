import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField, TextField } from '../../components/fields.tsx';
import { QueryState } from '../../components/states.tsx';
import { plural } from '../../format.ts';
import { datasetNamesQuery } from '../evaluations/queries.ts';
import { MAX_ROWS, type Row } from './pane-state.ts';
import { type Example, examplesQuery, rowOf } from './queries.ts';

const USUAL = 10;

const previewOf = ({ variables }: Example) =>
  Object.values(variables)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(' · ')
    .slice(0, 120);

/** Adds examples of a dataset as rows: a number of first ones, or selected ones. */
export function RowsDialog({ onRows, onClose }: { onRows: (rows: Row[]) => void; onClose: () => void }) {
  const datasets = useQuery(datasetNamesQuery).data?.data ?? [];
  const [name, setName] = useState('');
  const [q, setQ] = useState('');
  const [count, setCount] = useState(String(USUAL));
  /** Undefined for a number of first ones. */
  const [picked, setPicked] = useState<ReadonlySet<number>>();
  const isKnown = datasets.some((each) => each.name === name);
  const query = useQuery({ ...examplesQuery(name, q.trim()), enabled: isKnown });
  const examples = query.data?.examples ?? [];
  const first = new Set(examples.slice(0, Math.min(MAX_ROWS, Number(count) || 0)).map(({ seq }) => seq));
  const chosen = picked ?? first;
  const rows = () =>
    examples
      .filter(({ seq }) => chosen.has(seq))
      .slice(0, MAX_ROWS)
      .map((example) => rowOf(name, query.data?.version ?? 1, example));
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Rows of a dataset"
      description={`Each example is a row, with its expected output. At most ${MAX_ROWS} rows.`}
      submitLabel={`Add ${plural(chosen.size, 'row', 'rows')}`}
      canSubmit={isKnown && query.data !== undefined && chosen.size > 0}
      onSubmit={async () => onRows(rows())}
    >
      <ComboField
        label="Dataset"
        value={name}
        onChange={(typed) => {
          setName(typed);
          setPicked(undefined);
        }}
        options={datasets.map((each) => ({
          value: each.name,
          detail: plural(each.examples_total, 'example', 'examples'),
        }))}
        required
        spellCheck={false}
      />
      <div className="grid-2">
        <TextField
          label="How many"
          type="number"
          min={1}
          max={MAX_ROWS}
          value={count}
          onChange={(typed) => {
            setCount(typed);
            setPicked(undefined);
          }}
        />
        <TextField
          label="Only with"
          type="search"
          value={q}
          onChange={(typed) => {
            setQ(typed);
            setPicked(undefined);
          }}
          maxLength={200}
          placeholder="Text in the example"
        />
      </div>
      {isKnown && (
        <QueryState query={query} what="the examples">
          {() => (
            <fieldset className="bench-examples">
              <legend>Which</legend>
              {examples.length === 0 && <p className="muted">No matching example.</p>}
              {examples.map((example) => (
                <CheckField
                  key={example.seq}
                  label={`${example.seq + 1}. ${previewOf(example)}`}
                  checked={chosen.has(example.seq)}
                  onChange={(isChosen) => {
                    const next = new Set(chosen);
                    if (isChosen) next.add(example.seq);
                    else next.delete(example.seq);
                    setPicked(next);
                  }}
                />
              ))}
            </fieldset>
          )}
        </QueryState>
      )}
    </FormDialog>
  );
}
