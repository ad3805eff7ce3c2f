import { useState } from 'react';
import { Button } from './button.tsx';
import { showError } from './toast.tsx';

/** @param what describes the copied text for screen readers */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 2_000);
    }, showError);
  return (
    <Button look="small plain" onClick={() => void copy()}>
      {copied ? 'Copied' : 'Copy'}
      <span className="visually-hidden"> {what}</span>
    </Button>
  );
}
