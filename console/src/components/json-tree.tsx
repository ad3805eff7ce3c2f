import { useState } from 'react';
import { Button } from './button.tsx';

/** Deeper values are collapsed. */
const OPEN_DEPTH = 2;
/** Maximum number of entries until more are requested. */
const MOST_SHOWN = 100;

const summaryOf = (value: object) => (Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`);

function Entries({ value, depth }: { value: object; depth: number }) {
  const [shown, setShown] = useState(MOST_SHOWN);
  const entries = Object.entries(value);
  return (
    <ul className="json-entries">
      {entries.slice(0, shown).map(([name, each]) => (
        <li key={name}>
          <Node name={name} value={each} depth={depth} />
        </li>
      ))}
      {entries.length > shown && (
        <li>
          <Button look="plain small" onClick={() => setShown(shown + 10 * MOST_SHOWN)}>
            {entries.length - shown} more
          </Button>
        </li>
      )}
    </ul>
  );
}

function Node({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
    return (
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span className="json-name">{name}</span> <span className="muted">{summaryOf(value)}</span>
        </summary>
        {open && <Entries value={value} depth={depth + 1} />}
      </details>
    );
  return (
    <p>
      <span className="json-name">{name}</span>{' '}
      <span className={`json-${value === null ? 'null' : typeof value}`}>
        {typeof value === 'string' ? value : JSON.stringify(value)}
      </span>
    </p>
  );
}

/** JSON as a collapsible tree. */
export function JsonTree({ value }: { value: object }) {
  if (Object.keys(value).length === 0) return <code>{JSON.stringify(value)}</code>;
  return (
    <div className="json-tree">
      <Entries value={value} depth={0} />
    </div>
  );
}
