import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api.ts';
import { ComboField } from '../../components/combo-field.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { SelectField, TextArea } from '../../components/fields.tsx';
import { QueryState } from '../../components/states.tsx';
import { showToast } from '../../components/toast.tsx';
import { ScoreField } from './score-field.tsx';
import { definitionsQuery, readValue, type ValueType } from './score-value.ts';
import type { DataType, Score, ScoreDefinition } from './types.ts';

const TYPES: { value: DataType; label: string }[] = [
  { value: 'numeric', label: 'A number' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'categorical', label: 'A category' },
  { value: 'text', label: 'A text' },
];

/** Adds a score manually. */
export function AddScoreDialog(props: { subject: Score['subject']; onClose: () => void; onAdded: () => unknown }) {
  const definitions = useQuery(definitionsQuery);
  const [name, setName] = useState('');
  const [chosenType, setChosenType] = useState<DataType>('numeric');
  const [value, setValue] = useState('');
  const [comment, setComment] = useState('');
  const client = useQueryClient();
  const definition = definitions.data?.data.find((each) => each.name === name.trim());
  const type: ValueType = definition ?? { data_type: chosenType };
  const add = async () => {
    await post('/scores', {
      name: name.trim(),
      value: readValue(type, value),
      data_type: type.data_type,
      subject: props.subject,
      ...(comment.trim() !== '' && { comment: comment.trim() }),
    });
    await Promise.all([props.onAdded(), client.invalidateQueries({ queryKey: definitionsQuery.queryKey })]);
    showToast('The score was stored.');
  };
  return (
    <FormDialog
      open
      onClose={props.onClose}
      title="Add a score"
      submitLabel="Store the score"
      canSubmit={definitions.data !== undefined && value.trim() !== ''}
      onSubmit={add}
    >
      <QueryState query={definitions} what="the names of scores">
        {({ data }) => (
          <>
            <NameField
              definitions={data}
              value={name}
              onChange={(next) => {
                setName(next);
                // Input for another type would be invalid for this one.
                if (data.find((each) => each.name === next.trim())?.data_type !== definition?.data_type) setValue('');
              }}
            />
            {definition === undefined && (
              <SelectField
                label="Type"
                value={chosenType}
                onChange={(next) => {
                  setChosenType(TYPES.find((each) => each.value === next)?.value ?? 'numeric');
                  setValue('');
                }}
                options={TYPES}
                hint="A new score name takes the type of its first score."
              />
            )}
            <ScoreField
              key={`${definition?.name ?? ''} ${type.data_type}`}
              label="Value"
              type={type}
              value={value}
              onChange={setValue}
            />
            <TextArea label="Comment" rows={2} maxLength={4000} value={comment} onChange={setComment} />
          </>
        )}
      </QueryState>
    </FormDialog>
  );
}

function NameField({
  definitions,
  value,
  onChange,
}: {
  definitions: ScoreDefinition[];
  value: string;
  onChange: (value: string) => void;
}) {
  const known = definitions.find(({ name }) => name === value.trim());
  return (
    <ComboField
      label="Name"
      required
      spellCheck={false}
      maxLength={200}
      options={definitions.map(({ name }) => name)}
      hint={known?.description ?? undefined}
      value={value}
      onChange={onChange}
    />
  );
}
