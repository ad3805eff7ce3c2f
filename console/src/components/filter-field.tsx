import { useEffect, useState } from 'react';
import { TextField } from './fields.tsx';

const TYPING_MS = 300;

/** A filter in the address: it is updated when typing pauses. */
export function FilterField({
  label,
  value = '',
  onChange,
  type = 'search',
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  type?: 'search' | 'date' | 'number';
}) {
  const [typed, setTyped] = useState(value);
  const [passedOn, setPassedOn] = useState(value);
  // Back and forward change the address, too. While typing, the field is not overwritten by an older value from the address.
  if (value !== passedOn) {
    setPassedOn(value);
    if (typed.trim() === passedOn) setTyped(value);
  }
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onChange(typed.trim() === '' ? undefined : typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return <TextField label={label} type={type} value={typed} onChange={setTyped} />;
}
