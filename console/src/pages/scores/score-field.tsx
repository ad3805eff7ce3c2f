import { SelectField, TextArea, TextField } from '../../components/fields.tsx';
import { choicesOf, limitsOf, type ValueType } from './score-value.ts';

interface ScoreFieldProps {
  label: string;
  type: ValueType;
  value: string;
  onChange: (value: string) => void;
  required?: boolean;
}

/** The control for a score value, according to its definition. */
export function ScoreField({ label, type, value, onChange, required = true }: ScoreFieldProps) {
  const choices = choicesOf(type);
  const field = { label, value, onChange, required };
  if (choices !== undefined) return <SelectField {...field} options={[{ value: '', label: 'Choose…' }, ...choices]} />;
  switch (type.data_type) {
    case 'numeric':
      return (
        <TextField
          {...field}
          type="number"
          step="any"
          min={type.min ?? undefined}
          max={type.max ?? undefined}
          hint={limitsOf(type)}
        />
      );
    case 'text':
      return <TextArea {...field} rows={3} maxLength={10_000} />;
    default:
      return <TextField {...field} maxLength={200} />;
  }
}
