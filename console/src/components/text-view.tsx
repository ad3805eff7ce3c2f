import { type ReactNode, useState } from 'react';
import { formatJson, formatNumber } from '../format.ts';
import { CopyButton } from './copy-button.tsx';

const SHOWN_CHARACTERS = 5_000;

/** Text that someone or a model wrote: shown as it is, never as HTML, and cut until all of it is asked for. */
export function TextView({ text, label, tools }: { text: string; label: string; tools?: ReactNode }) {
  const [all, setAll] = useState(false);
  const isCut = !all && text.length > SHOWN_CHARACTERS;
  return (
    <div>
      <pre className="code" aria-label={label} role="region" tabIndex={0}>
        {isCut ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}
      </pre>
      <div className="code-tools">
        {isCut && (
          <button type="button" className="button small" onClick={() => setAll(true)}>
            Show all {formatNumber(text.length)} characters
          </button>
        )}
        {tools}
        <CopyButton text={text} what={label} />
      </div>
    </div>
  );
}

export function JsonView({ value, label }: { value: unknown; label: string }) {
  return <TextView text={formatJson(value)} label={label} />;
}
