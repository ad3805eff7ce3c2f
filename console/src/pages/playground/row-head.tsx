import { Link } from '@tanstack/react-router';
import { Play, X } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { Inputs } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { Fact } from '../../components/fact.tsx';
import { TextArea } from '../../components/fields.tsx';
import { Images, imagesIn, withoutImages } from '../../components/images.tsx';
import { formatJson } from '../../format.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import type { Row } from './pane-state.ts';
import { VariablesForm } from './variables-form.tsx';

const SaveExampleDialog = lazy(async () => ({
  default: (await import('./save-example-dialog.tsx')).SaveExampleDialog,
}));

const textOf = (value: unknown) => (typeof value === 'string' ? value : value === undefined ? '' : formatJson(value));

/** Characters shown of a read-only value: *Edit* shows all of it. */
const SHOWN_CHARACTERS = 600;
const shortOf = (value: unknown) => {
  const text = textOf(withoutImages(value));
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
};

/** A set of variables: a form, or the values of an example until edited. */
export function RowHead({
  row,
  number,
  names,
  inputs,
  onChange,
  onRun,
  onRemove,
}: {
  row: Row;
  /** Undefined if it is the only one. */
  number: number | undefined;
  names: readonly string[];
  inputs: Inputs;
  onChange: (part: Partial<Row>) => void;
  onRun: (() => void) | undefined;
  onRemove: (() => void) | undefined;
}) {
  const [isEdited, setEdited] = useState(row.example === undefined && row.result === undefined);
  const [isSaving, setSaving] = useState(false);
  const mayWrite = useMay('write');
  const name = number === undefined ? t('Variables') : t(`Row ${number}`);
  return (
    <section className="bench-row-head" aria-label={name}>
      <div className="pane-head">
        <h2>{name}</h2>
        <div className="row">
          {onRun && (
            <Button look="small" onClick={onRun}>
              <Play className="icon" aria-hidden />
              Run<span className="visually-hidden"> row {number}</span>
            </Button>
          )}
          {onRemove && (
            <Button look="small plain" onClick={onRemove} aria-label={`Remove row ${number}`} title="Remove">
              <X className="icon" aria-hidden />
            </Button>
          )}
        </div>
      </div>
      {isEdited ? (
        <>
          {names.length === 0 && <p className="muted">The prompt has no variables.</p>}
          <VariablesForm
            names={names}
            inputs={inputs}
            values={row.variables}
            onChange={(variables) => onChange({ variables })}
          />
          {(row.expected !== undefined || number !== undefined) && (
            <TextArea
              label="Expected output"
              rows={2}
              value={textOf(row.expected)}
              onChange={(typed) => onChange({ expected: typed === '' ? undefined : typed })}
            />
          )}
        </>
      ) : (
        <Values names={names} row={row} />
      )}
      <Images images={imagesIn(row.variables)} />
      <div className="row">
        {!isEdited && (
          <Button look="small" onClick={() => setEdited(true)}>
            Edit<span className="visually-hidden"> row {number}</span>
          </Button>
        )}
        {mayWrite && row.example === undefined && row.result === undefined && number !== undefined && (
          <Button look="small" onClick={() => setSaving(true)}>
            Save as an example…<span className="visually-hidden"> row {number}</span>
          </Button>
        )}
        {row.example && (
          <span className="muted">
            {row.example.dataset}, example {row.example.seq + 1}
          </span>
        )}
        {row.result && (
          <Link to="/evaluations/$id" params={{ id: row.result.evaluation }} search={{ example: row.result.seq }}>
            {row.result.name}
          </Link>
        )}
      </div>
      {isSaving && (
        <Suspense>
          <SaveExampleDialog
            variables={Object.fromEntries(Object.entries(row.variables).filter(([key]) => names.includes(key)))}
            expected={textOf(row.expected)}
            onClose={() => setSaving(false)}
          />
        </Suspense>
      )}
    </section>
  );
}

function Values({ names, row: { variables, expected } }: { names: readonly string[]; row: Row }) {
  const shown = names.filter((name) => variables[name] !== undefined);
  const missing = names.filter((name) => variables[name] === undefined);
  return (
    <>
      <dl className="bench-values">
        {shown.map((name) => (
          <Fact key={name} label={name}>
            {shortOf(variables[name])}
          </Fact>
        ))}
        {expected !== undefined && (
          <div className="bench-expected">
            <dt>Expected</dt>
            <dd>{shortOf(expected)}</dd>
          </div>
        )}
      </dl>
      {missing.length > 0 && <p className="muted">Without {missing.join(', ')}.</p>}
    </>
  );
}
