import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState } from 'react';
import { columnsOf } from '../../../../src/domain/evaluations/csv-columns.ts';
import { DELIMITER_NAMES } from '../../../../src/domain/text/csv-form.ts';
import { pathOf } from '../../api.ts';
import type { Dataset } from '../../api-types.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { Loading } from '../../components/states.tsx';
import { showToast } from '../../components/toast.tsx';
import { useDraftForm } from '../../drafts/use-draft-form.tsx';
import { formatCount, plural } from '../../format.ts';
import { getIfThere } from '../../queries.ts';
import { t } from '../../strings.ts';
import { allExamplesQuery, type ExampleInput, MAX_EXAMPLES, mediaTypeOf, uploadDataset } from './examples.ts';
import { type Mode, type Plan, planInWords, planOf } from './import-plan.ts';
import { guessMapping, type Mapping, nameOf, PARTS, type Part, toExamples, withPart } from './mapping.ts';
import { formatOf, readTable, type Table } from './read-table.ts';

/** Larger files are sent unread: the browser would take long to parse them. */
const MOST_READ_BYTES = 8 * 1024 * 1024;
const PREVIEWED = 5;

/** Letters, digits, dots, dashes and underscores: the characters of a name. */
const nameOfFile = (file: string) => file.replace(/\.[^.]+$/, '').replace(/[^\w.-]+/g, '-');

interface Read {
  table: Table;
  isText: boolean;
}

/** The parsed text, or its problem. */
function read(text: string, format: 'csv' | 'json'): Read | Error | undefined {
  if (text.trim() === '') return undefined;
  try {
    return { table: readTable(text, format), isText: format === 'csv' };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Like {@link toExamples}, but returns the error. */
function mapped({ table, isText }: Read, mapping: Mapping): ExampleInput[] | Error {
  try {
    return toExamples(table, mapping, isText);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The latest version of the dataset with a name; null if there is none. */
function useExisting(name: string): Dataset | null | undefined {
  // A missing dataset is a result, too: it stays while the query is refetched.
  const { data } = useQuery({
    queryKey: ['datasets', 'if-there', name],
    queryFn: ({ signal }) => getIfThere<Dataset>(pathOf('datasets', name), undefined, signal),
    enabled: name !== '',
    retry: false,
  });
  return name === '' ? null : data;
}

/**
 * Creates a dataset version from a file or pasted text. Previews the resulting examples, maps each column to a variable, the
 * expected value or metadata, and states what the version replaces or adds.
 */
export function ImportDialog({
  file,
  dataset,
  onClose,
}: {
  /** Undefined for pasted text. */
  file?: File | undefined;
  /** The dataset that gets a new version; undefined to ask for a name. */
  dataset: string | undefined;
  onClose: () => void;
}) {
  const {
    value: form,
    change,
    sent,
    notice,
  } = useDraftForm('dataset', file?.name ?? dataset ?? '', {
    name: dataset ?? (file ? nameOfFile(file.name) : ''),
    description: '',
    text: '',
  });
  const { name, description, text } = form;
  const [mode, setMode] = useState<Mode>('add');
  const [chosen, setChosen] = useState<{ columns: string; mapping: Mapping }>();
  const [progress, setProgress] = useState<number>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const existing = useExisting(useDeferredValue(name.trim()));
  const type = file && mediaTypeOf(file.name);
  const isLarge = file !== undefined && file.size > MOST_READ_BYTES;
  const contents = useQuery({
    queryKey: ['file', file?.name, file?.size, file?.lastModified],
    queryFn: () => file?.text() ?? '',
    enabled: file !== undefined && type !== undefined && !isLarge,
    gcTime: 0,
  }).data;
  const source = useDeferredValue(file ? (contents ?? '') : text);
  const format = file ? (type === 'text/csv' ? 'csv' : 'json') : formatOf(source);
  const found = useMemo(() => read(source, format), [source, format]);
  const table = found instanceof Error ? undefined : found?.table;
  const columns = table?.columns.join('\n');
  const mapping = useMemo(
    () => (chosen && chosen.columns === columns ? chosen.mapping : guessMapping(table?.columns ?? [])),
    [chosen, columns, table],
  );
  const examples = useMemo(
    () => (found === undefined || found instanceof Error ? undefined : mapped(found, mapping)),
    [found, mapping],
  );
  const present = useQuery({
    ...allExamplesQuery(existing?.name ?? '', existing?.version ?? 0),
    enabled: existing != null && existing.examples_total <= MAX_EXAMPLES && Array.isArray(examples),
    placeholderData: keepPreviousData,
  }).data;
  const plan = useMemo(
    () => (existing && present && Array.isArray(examples) ? planOf(present, examples, mode) : undefined),
    [existing, present, examples, mode],
  );
  // Sent unchanged, the API reports problems by line.
  const isSentAsItIs = file !== undefined && (!Array.isArray(examples) || isPlain(table, mapping, format));
  const canSubmit =
    existing !== undefined &&
    (file ? type !== undefined : Array.isArray(examples) && examples.length > 0) &&
    (isSentAsItIs || Array.isArray(examples));

  const upload = async () => {
    setProgress(0);
    try {
      const lines = Array.isArray(examples) ? examples : [];
      const body =
        isSentAsItIs && file && type
          ? { file, type }
          : {
              file: new Blob([lines.map((each) => `${JSON.stringify(each)}\n`).join('')]),
              type: 'application/x-ndjson',
            };
      const described = { name: name.trim(), description: description.trim(), mode };
      const saved = await uploadDataset({ ...described, ...body }, setProgress);
      sent();
      await client.invalidateQueries({ queryKey: ['datasets'] });
      showToast(`${saved.name}: version ${saved.version} has ${plural(saved.examples_total, 'example', 'examples')}.`);
      await navigate({ to: '/datasets/$', params: { _splat: saved.name } });
      // On the list page, the dialog disappears with the page.
      return dataset !== undefined;
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={titleOf(file, dataset)}
      description={
        file
          ? `${file.name}, ${formatCount(file.size)}B`
          : 'Paste CSV with a line of headings, cells of a spreadsheet, or JSON with one object per line.'
      }
      submitLabel={file ? 'Upload' : 'Save'}
      canSubmit={canSubmit}
      onSubmit={upload}
    >
      {notice}
      {file && type === undefined && (
        <p className="notice bad">Choose a file of JSON Lines (.jsonl, .ndjson) or CSV (.csv, .tsv).</p>
      )}
      {dataset === undefined && (
        <TextField label="Name" value={name} onChange={(next) => change({ name: next })} required spellCheck={false} />
      )}
      {!file && (
        <TextArea
          label="Examples"
          className="mono"
          rows={8}
          required
          spellCheck={false}
          value={text}
          onChange={(next) => change({ text: next })}
          placeholder={'question,answer\nWhere is my order?,Look under Orders.'}
        />
      )}
      {found instanceof Error && <p className="notice warn">{found.message}</p>}
      {isLarge && <p className="notice">The file is large: it is uploaded without a preview.</p>}
      {table && table.rows.length === 0 && <p className="notice warn">There are no rows under the headings yet.</p>}
      {table && table.rows.length > 0 && (
        <>
          <Columns
            table={table}
            mapping={mapping}
            onChange={(at, part) => setChosen({ columns: columns ?? '', mapping: withPart(mapping, at, part) })}
          />
          {examples instanceof Error ? (
            <p className="notice bad">{examples.message}</p>
          ) : (
            examples && <Preview examples={examples} delimiter={table.delimiter} />
          )}
        </>
      )}
      <Consequence existing={existing} mode={mode} plan={plan} isNamed={name.trim() !== ''} onMode={setMode} />
      <TextField
        label="Description"
        value={description}
        onChange={(next) => change({ description: next })}
        hint={existing ? 'Leave empty to keep the current one.' : undefined}
      />
      {progress !== undefined && (
        <div role="status">
          <progress className="upload-progress" max={1} value={progress} aria-label="Sent" />
          <p className="muted">{progress < 1 ? `${Math.floor(progress * 100)} % sent` : 'Checking the examples…'}</p>
        </div>
      )}
    </FormDialog>
  );
}

function titleOf(file: File | undefined, dataset: string | undefined): string {
  if (file) return dataset === undefined ? t('Upload a dataset') : t(`Upload a new version of ${dataset}`);
  return dataset === undefined ? t('New dataset') : t(`Paste examples into ${dataset}`);
}

/** Whether the API would read the file the same way on its own. */
function isPlain(table: Table | undefined, mapping: Mapping, format: 'csv' | 'json'): boolean {
  if (table === undefined) return true;
  const read = columnsOf(table.columns);
  const isRead = mapping.every((part, index) => {
    const column = read[index];
    if (column?.part !== (PLURALS[part] ?? part)) return false;
    return part === 'id' || part === 'expected' || column.name === nameOf(table.columns[index] ?? '', part);
  });
  return isRead && (format === 'csv' || table.isExamples);
}

const PLURALS: Partial<Record<Part, string>> = { variable: 'variables' };

/** The mapping of each column. */
function Columns({
  table,
  mapping,
  onChange,
}: {
  table: Table;
  mapping: Mapping;
  onChange: (at: number, part: Part) => void;
}) {
  return (
    <fieldset className="import-columns">
      <legend>Columns</legend>
      <div className="filters">
        {table.columns.map((column, index) => (
          <SelectField
            key={column}
            label={column}
            value={mapping[index] ?? 'variable'}
            onChange={(value) => onChange(index, PARTS.find((part) => part.value === value)?.value ?? 'variable')}
            options={PARTS}
          />
        ))}
      </div>
    </fieldset>
  );
}

const cellOf = (value: unknown) =>
  value === undefined ? '' : (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 200);

/** A preview of the first examples. */
function Preview({ examples, delimiter }: { examples: readonly ExampleInput[]; delimiter: string | undefined }) {
  const shown = examples.slice(0, PREVIEWED);
  const variables = [...new Set(shown.flatMap((each) => Object.keys(each.variables)))];
  const has = (part: 'id' | 'expected' | 'metadata') => shown.some((each) => each[part] !== undefined);
  return (
    <section className="stack" aria-label="Preview">
      <p className="muted" role="status">
        {plural(examples.length, 'example', 'examples')}
        {examples.length > PREVIEWED && `, the first ${PREVIEWED} of them`}:
      </p>
      {delimiter !== undefined && delimiter !== ',' && (
        <p className="muted">Columns are separated by {DELIMITER_NAMES[delimiter] ?? `“${delimiter}”`}.</p>
      )}
      {/* Scrolling content must be reachable with the keyboard. */}
      <div className="preview" tabIndex={0} role="region" aria-label="First examples">
        <table>
          <thead>
            <tr>
              {has('id') && <th scope="col">Id</th>}
              {variables.map((name) => (
                <th key={name} scope="col">
                  <code>{name}</code>
                </th>
              ))}
              {has('expected') && <th scope="col">Expected</th>}
              {has('metadata') && <th scope="col">Metadata</th>}
            </tr>
          </thead>
          <tbody>
            {shown.map((example, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no ids, and keep their order
              <tr key={index}>
                {has('id') && <td>{example.id}</td>}
                {variables.map((name) => (
                  <td key={name}>{cellOf(example.variables[name])}</td>
                ))}
                {has('expected') && <td>{cellOf(example.expected)}</td>}
                {has('metadata') && <td>{cellOf(example.metadata)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The consequence if the resulting examples are unknown. */
const unplanned = ({ version, examples_total: has }: Dataset, mode: Mode) =>
  mode === 'replace'
    ? t(`Version ${version + 1} replaces all ${plural(has, 'example', 'examples')} of version ${version}.`)
    : t(`It has ${plural(has, 'example', 'examples')}, to which these are added.`);

/** States what will be replaced or added. */
function Consequence({
  existing,
  mode,
  plan,
  isNamed,
  onMode,
}: {
  existing: Dataset | null | undefined;
  mode: Mode;
  plan: Plan | undefined;
  isNamed: boolean;
  onMode: (mode: Mode) => void;
}) {
  if (!isNamed) return null;
  if (existing === undefined) return <Loading what="the existing dataset of this name" />;
  if (existing === null)
    return (
      <p className="notice" role="status">
        Creates a new dataset.
      </p>
    );
  const next = existing.version + 1;
  return (
    <>
      <SelectField
        label="What happens to the current examples"
        value={mode}
        onChange={(value) => onMode(value === 'add' ? 'add' : 'replace')}
        options={[
          { value: 'add', label: 'They stay, and these are added' },
          { value: 'replace', label: 'They are replaced' },
        ]}
      />
      <p className={`notice ${plan && plan.removed > 0 ? 'warn' : ''}`} role="status">
        {plan ? planInWords(plan, next, mode) : unplanned(existing, mode)} Version {existing.version} is unchanged.
      </p>
    </>
  );
}
