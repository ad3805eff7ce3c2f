import { useEffect, useState } from 'react';
import { TextField } from './fields.tsx';

const TYPING_MS = 300;

/** A filter that is in the address: it is passed on when typing pauses. */
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
  // Back and forward change the address, too. What is being typed stays: the address may take in what was typed before.
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
