import { useState } from 'react';

/** Does one thing at a time for a form, and keeps its error until the next attempt. */
export function useSubmit() {
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const submit = async (work: () => Promise<void>): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, submit, forget: () => setError(undefined) };
}
