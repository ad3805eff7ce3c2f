import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, type Page } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { Ago } from '../../components/ago.tsx';
import { Button } from '../../components/button.tsx';
import { ComboField } from '../../components/combo-field.tsx';
import { SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { Section } from '../../components/section.tsx';
import { plural } from '../../format.ts';
import { labelsQuery, promptQuery } from '../../queries.ts';
import { namesQuery } from '../prompts/names-query.ts';
import { EvaluatorsForm } from './evaluators-form.tsx';
import { datasetNamesQuery } from './queries.ts';
import { EMPTY_RUN, type ExecutionsSelection, formOf, type RunForm } from './run-form-state.ts';
import { RunModeFields } from './run-mode-fields.tsx';

const SHOWN_VERSIONS = 200;

/** The fields of a run: what to evaluate, on which examples, and how. For a single run or a schedule. What is rarely changed is folded. */
export function RunFormFields({
  value,
  onChange,
  scheduled = false,
}: {
  value: RunForm;
  onChange: (value: RunForm) => void;
  scheduled?: boolean;
}) {
  const set = (part: Partial<RunForm>) => onChange({ ...value, ...part });
  const [isUsual] = useState(FOLDED.every((field) => value[field] === EMPTY_RUN[field]));
  return (
    <>
      <Section id="run-what" className="card" title="What is evaluated">
        <PromptFields value={value} set={set} />
        {!scheduled && <SameAsLastTime value={value} set={set} />}
        <ExampleFields value={value} set={set} />
      </Section>
      <Section id="run-how" className="card" title="How outputs are scored">
        <EvaluatorsForm value={value.evaluators} onChange={(evaluators) => set({ evaluators })} />
        <div className="filters">
          <TextField
            label="Pass threshold, in %"
            type="number"
            min={0}
            max={100}
            step="any"
            value={value.threshold}
            onChange={(threshold) => set({ threshold })}
          />
          <BaselineField
            isRecorded={value.source === 'executions'}
            value={value.baseline}
            onChange={(baseline) => set({ baseline })}
          />
          <TextField
            label="Maximum cost, in US dollars"
            type="number"
            min={0}
            step="any"
            placeholder="no limit"
            value={value.maxCost}
            onChange={(maxCost) => set({ maxCost })}
          />
        </div>
      </Section>
      <details className="card" open={!isUsual}>
        <summary>{scheduled ? 'Model calls and concurrency' : 'Name, model calls, concurrency and start'}</summary>
        <div className="stack">
          {!scheduled && (
            <TextField
              label="Name of this run"
              maxLength={200}
              value={value.name ?? ''}
              onChange={(name) => set({ name })}
              placeholder="Such as what is tried"
            />
          )}
          <RunModeFields value={value} set={set}>
            <TextField
              label="Concurrency"
              type="number"
              min={1}
              max={200}
              step={1}
              value={value.concurrency}
              onChange={(concurrency) => set({ concurrency })}
            />
            {!scheduled && (
              <TextField
                label="Start at"
                type="datetime-local"
                value={value.startAt}
                onChange={(startAt) => set({ startAt })}
                hint="Leave empty to start now."
              />
            )}
          </RunModeFields>
        </div>
      </details>
    </>
  );
}

/** The fields that are folded while they are as usual. */
const FOLDED = ['name', 'mode', 'concurrency', 'startAt'] as const;

/** Fills the form with the newest evaluation of the prompt. */
function SameAsLastTime({ value, set }: Part) {
  const prompt = value.prompt.trim();
  const isKnown = (useQuery(namesQuery).data ?? []).includes(prompt);
  const last = useQuery({
    queryKey: ['evaluations', 'last', prompt],
    queryFn: ({ signal }) =>
      get<Page<Evaluation>>('/evaluations', { prompt_name: prompt, target: 'prompt', limit: 1 }, signal),
    enabled: isKnown,
  }).data?.data[0];
  if (!isKnown || last === undefined) return null;
  const { dataset, evaluators } = last;
  const apply = () => {
    const { which: _, startAt: _start, ...form } = formOf(last);
    // Its inline examples are not in its record.
    const { source, dataset: name, examples: _examples, ...rest } = form;
    set(dataset === null ? rest : { ...rest, source, dataset: name, datasetVersion: '' });
  };
  return (
    <div className="row">
      <Button look="small" onClick={apply}>
        Same as last time
      </Button>
      <span className="muted">
        {dataset === null ? 'Inline examples' : dataset.name}, {evaluators.map(({ name }) => name).join(', ')},{' '}
        <Ago time={last.created_at} />
      </span>
    </div>
  );
}

interface Part<Field extends keyof RunForm = keyof RunForm> {
  value: Pick<RunForm, Field>;
  set: (part: Partial<Pick<RunForm, Field>>) => void;
}

export function PromptFields({ value, set }: Part<'prompt' | 'which'>) {
  const names = useQuery(namesQuery).data ?? [];
  const isKnown = names.includes(value.prompt);
  const prompt = useQuery({ ...promptQuery(value.prompt), enabled: isKnown }).data;
  const labels = useQuery(labelsQuery).data?.data ?? [];
  const versions = Array.from({ length: Math.min(prompt?.version ?? 0, SHOWN_VERSIONS) }, (_, index) =>
    String((prompt?.version ?? 0) - index),
  );
  const options = [
    { value: 'latest', label: prompt ? `Latest: version ${prompt.version}` : 'Latest' },
    ...labels.map(({ label }) => ({ value: `label:${label}`, label: `Label ${label}` })),
    ...versions.map((version) => ({ value: `version:${version}`, label: `Version ${version}` })),
  ];
  if (!options.some((option) => option.value === value.which))
    options.push({ value: value.which, label: value.which.replace(':', ' ') });
  return (
    <div className="grid-2">
      <ComboField
        label="Prompt"
        value={value.prompt}
        onChange={(name) => set({ prompt: name, which: name === value.prompt ? value.which : 'latest' })}
        options={names}
        required
        spellCheck={false}
        error={value.prompt !== '' && names.length > 0 && !isKnown ? 'There is no such prompt.' : undefined}
      />
      <SelectField label="Version" value={value.which} onChange={(which) => set({ which })} options={options} />
    </div>
  );
}

export function DatasetFields({ value, set }: Part<'dataset' | 'datasetVersion'>) {
  const datasets = useQuery(datasetNamesQuery).data?.data ?? [];
  const chosen = datasets.find(({ name }) => name === value.dataset);
  return (
    <div className="grid-2">
      <ComboField
        label="Dataset"
        value={value.dataset}
        onChange={(dataset) => set({ dataset })}
        options={datasets.map(({ name }) => name)}
        required
        spellCheck={false}
        hint={chosen && `${plural(chosen.examples_total, 'example', 'examples')} in version ${chosen.version}`}
      />
      <TextField
        label="Version of the dataset"
        type="number"
        min={1}
        step={1}
        placeholder={chosen ? `latest: ${chosen.version}` : 'latest'}
        value={value.datasetVersion}
        onChange={(datasetVersion) => set({ datasetVersion })}
      />
    </div>
  );
}

function ExampleFields({ value, set }: Part) {
  return (
    <>
      <div className="run-source">
        <SelectField
          label="From"
          value={value.source}
          onChange={(source) => set({ source: SOURCES.find((each) => each === source) ?? 'dataset' })}
          options={[
            ...(value.executions ? [{ value: 'executions', label: 'Executions from the list' }] : []),
            { value: 'dataset', label: 'A dataset' },
            { value: 'inline', label: 'Inline examples' },
          ]}
        />
        {value.source === 'dataset' && <DatasetFields value={value} set={set} />}
      </div>
      {value.source === 'executions' && value.executions && (
        <ExecutionFields value={value.executions} onChange={(executions) => set({ executions })} />
      )}
      {value.source === 'inline' && (
        <TextArea
          label="Examples"
          className="mono"
          rows={6}
          required
          spellCheck={false}
          value={value.examples}
          onChange={(examples) => set({ examples })}
          hint="One JSON object per line, with variables and, where there is one, expected. At most 1,000."
        />
      )}
    </>
  );
}

const SOURCES = ['dataset', 'inline', 'executions'] as const;

/** The fields of a selection of executions in words. */
const selectionInWords = ({
  execution_ids: ids,
  limit: _limit,
  expected: _expected,
  ...filter
}: ExecutionsSelection) =>
  ids === undefined
    ? Object.entries(filter)
        .filter(([, value]) => value !== null && value !== undefined)
        .map(
          ([name, value]) =>
            `${name.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
        )
        .join(', ')
    : plural(ids.length, 'selected execution', 'selected executions');

function ExecutionFields({
  value,
  onChange,
}: {
  value: ExecutionsSelection;
  onChange: (value: ExecutionsSelection) => void;
}) {
  return (
    <>
      <p>{selectionInWords(value) || 'All executions'}</p>
      <p className="muted">
        The version answers the recorded conversations again. The recorded outputs are scored in the same way, and are
        what it is compared with.
      </p>
      <div className="grid-2">
        {value.execution_ids === undefined && (
          <TextField
            label="The newest, at most"
            type="number"
            min={1}
            max={1000}
            step={1}
            placeholder="100"
            value={value.limit === undefined ? '' : String(value.limit)}
            onChange={(limit) => onChange({ ...value, limit: limit === '' ? undefined : Number(limit) })}
          />
        )}
        <SelectField
          label="Expected"
          value={value.expected ?? 'none'}
          onChange={(expected) => onChange({ ...value, expected: expected === 'output' ? 'output' : 'none' })}
          options={[
            { value: 'output', label: 'The recorded output' },
            { value: 'none', label: 'Nothing' },
          ]}
        />
      </div>
    </>
  );
}

function BaselineField({
  isRecorded,
  value,
  onChange,
}: {
  isRecorded: boolean;
  value: string;
  onChange: (value: string) => void;
}) {
  const isId = value !== 'previous' && value !== 'none';
  return (
    <>
      <SelectField
        label="Baseline"
        value={isId ? 'id' : value}
        onChange={(chosen) => onChange(chosen === 'id' ? '' : chosen)}
        options={[
          { value: 'previous', label: isRecorded ? 'The recorded outputs' : 'The previous run over the same examples' },
          { value: 'none', label: 'Nothing' },
          { value: 'id', label: 'One evaluation' },
        ]}
      />
      {isId && (
        <TextField
          label="Evaluation id"
          value={value}
          onChange={onChange}
          required
          placeholder="eval_…"
          spellCheck={false}
        />
      )}
    </>
  );
}
