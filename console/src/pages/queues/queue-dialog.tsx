import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { pathOf, put } from '../../api.ts';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { requireNew } from '../../queries.ts';
import { t } from '../../strings.ts';
import { EMPTY_FILTER, FilterFields, type FilterForm, filterFormOf, toFilter } from '../scores/execution-filter.tsx';
import { definitionsQuery } from '../scores/score-value.ts';
import type { PutQueue, Queue } from './types.ts';

interface QueueForm {
  name: string;
  description: string;
  /** One per line. */
  scoreNames: string;
  fills: '' | 'executions' | 'traces';
  filter: FilterForm;
  /** In percent. */
  sampleRate: string;
  reviewers: string;
}

const formOf = (queue: Queue | undefined): QueueForm => ({
  name: queue?.name ?? '',
  description: queue?.description ?? '',
  scoreNames: queue?.score_names.join('\n') ?? '',
  fills: queue?.filter ? 'executions' : queue?.trace_filter ? 'traces' : '',
  filter: filterFormOf(queue?.filter ?? queue?.trace_filter ?? {}),
  sampleRate: String(Number(((queue?.sample_rate ?? 1) * 100).toFixed(6))),
  reviewers: String(queue?.reviewers_per_item ?? 1),
});

const toPut = ({ description, scoreNames, fills, filter, sampleRate, reviewers }: QueueForm): PutQueue => ({
  ...(description.trim() !== '' && { description: description.trim() }),
  score_names: scoreNames
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== ''),
  ...(fills === 'executions' && { filter: toFilter(filter) as NonNullable<PutQueue['filter']> }),
  ...(fills === 'traces' && { trace_filter: toFilter(filter) as NonNullable<PutQueue['trace_filter']> }),
  ...(fills !== '' && {
    ...(sampleRate !== '' && { sample_rate: Number((Number(sampleRate) / 100).toFixed(8)) }),
  }),
  ...(reviewers !== '' && { reviewers_per_item: Number(reviewers) }),
});

const FILLS: { value: QueueForm['fills']; label: string }[] = [
  { value: '', label: 'Nothing' },
  { value: 'executions', label: 'Executions' },
  { value: 'traces', label: 'Traces' },
];

/** Creates or edits a queue. */
export function QueueDialog({ queue, onClose }: { queue?: Queue; onClose: () => void }) {
  const [form, setForm] = useState(() => formOf(queue));
  const set = (part: Partial<QueueForm>) => setForm((before) => ({ ...before, ...part }));
  const definitions = useQuery(definitionsQuery).data?.data ?? [];
  const client = useQueryClient();
  const navigate = useNavigate();
  const save = async () => {
    const name = form.name.trim();
    if (queue === undefined)
      await requireNew(pathOf('queues', name), t(`There is a queue of the name “${name}” already.`));
    await put<Queue>(pathOf('queues', name), toPut(form));
    await client.invalidateQueries({ queryKey: ['queues'] });
    if (queue === undefined) await navigate({ to: '/queues/$', params: { _splat: name } });
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title={queue === undefined ? 'New queue' : `Change ${queue.name}`}
      submitLabel={queue === undefined ? 'Create' : 'Save'}
      onSubmit={save}
    >
      {queue === undefined && (
        <TextField
          label="Name"
          required
          spellCheck={false}
          placeholder="support/unhelpful"
          value={form.name}
          onChange={(name) => set({ name })}
        />
      )}
      <TextArea
        label="Instructions"
        rows={2}
        maxLength={2000}
        value={form.description}
        onChange={(description) => set({ description })}
        hint="Instructions for reviewers."
      />
      <TextArea
        label="Scores"
        rows={2}
        required
        spellCheck={false}
        value={form.scoreNames}
        onChange={(scoreNames) => set({ scoreNames })}
        hint={
          definitions.length === 0
            ? 'One name per line.'
            : `One name per line. Defined scores: ${definitions
                .slice(0, 20)
                .map(({ name }) => name)
                .join(', ')}.`
        }
      />
      <TextField
        label="Reviewers for each item"
        type="number"
        min={1}
        max={10}
        step={1}
        required
        value={form.reviewers}
        onChange={(reviewers) => set({ reviewers })}
      />
      <SelectField
        label="Add matches automatically"
        value={form.fills}
        onChange={(fills) =>
          set({ fills: FILLS.find(({ value }) => value === fills)?.value ?? '', filter: EMPTY_FILTER })
        }
        options={FILLS}
      />
      {form.fills !== '' && (
        <>
          <FilterFields
            value={form.filter}
            onChange={(filter) => set({ filter })}
            withStatus={form.fills === 'executions'}
          />
          <TextField
            label="Sampling rate, in %"
            type="number"
            min={0}
            max={100}
            step="any"
            required
            value={form.sampleRate}
            onChange={(sampleRate) => set({ sampleRate })}
          />
        </>
      )}
    </FormDialog>
  );
}
