import { presentableDiff } from '@codemirror/merge';
import { type ReactNode, useMemo } from 'react';
import { Images, imagesIn } from './images.tsx';

/** Beyond it a comparison would take the browser too long: nothing is marked. */
const MOST_COMPARED_CHARACTERS = 100_000;

interface Side {
  title: ReactNode;
  /** Null: there is none. */
  text: string | null;
}

/** A text in pieces: those that the other one lacks are marked. */
function marked(text: string, spans: readonly { from: number; to: number }[], Mark: 'del' | 'ins'): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const { from, to } of spans) {
    if (from > at) parts.push(text.slice(at, from));
    if (to > from) parts.push(<Mark key={from}>{text.slice(from, to)}</Mark>);
    at = Math.max(at, to);
  }
  parts.push(text.slice(at));
  return parts;
}

/** Two texts side by side: words that only one of them has are marked, and struck out or underlined as well as coloured. */
export function TextDiff({ before, after, label }: { before: Side; after: Side; label: string }) {
  const [left, right] = useMemo((): [ReactNode, ReactNode] => {
    const { text: old } = before;
    const { text: now } = after;
    if (old === null || now === null || old.length + now.length > MOST_COMPARED_CHARACTERS) return [old, now];
    const changes = presentableDiff(old, now, { scanLimit: 2_000, timeout: 500 });
    return [
      marked(
        old,
        changes.map(({ fromA, toA }) => ({ from: fromA, to: toA })),
        'del',
      ),
      marked(
        now,
        changes.map(({ fromB, toB }) => ({ from: fromB, to: toB })),
        'ins',
      ),
    ];
  }, [before, after]);
  const side = ({ title, text }: Side, shown: ReactNode, which: string) => (
    <div className="text-diff-side">
      <div className="text-diff-title">{title}</div>
      {text === null ? (
        <p className="muted">No output.</p>
      ) : (
        // What scrolls must be reached by keyboard.
        <pre className="code" tabIndex={0} role="region" aria-label={`${label}, ${which}`}>
          {shown}
        </pre>
      )}
      <Images images={imagesIn(text)} label={`images of ${label}, ${which}`} />
    </div>
  );
  return (
    <div className="text-diff">
      {side(before, left, 'before')}
      {side(after, right, 'after')}
    </div>
  );
}

/** A text of which what another one has not is marked. */
export function MarkedText({ base, text, label }: { base: string; text: string; label: string }) {
  const shown = useMemo((): ReactNode => {
    if (base.length + text.length > MOST_COMPARED_CHARACTERS) return text;
    const changes = presentableDiff(base, text, { scanLimit: 2_000, timeout: 500 });
    return marked(
      text,
      changes.map(({ fromB, toB }) => ({ from: fromB, to: toB })),
      'ins',
    );
  }, [base, text]);
  return (
    // What scrolls must be reached by keyboard.
    <pre className="code marked" tabIndex={0} role="region" aria-label={label}>
      {shown}
    </pre>
  );
}

/** A text with what makes it differ from another one: words that it lacks are struck out, its own are underlined. */
export function InlineDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const parts = useMemo((): ReactNode[] => {
    if (before.length + after.length > MOST_COMPARED_CHARACTERS) return [after];
    const shown: ReactNode[] = [];
    let at = 0;
    for (const { fromA, toA, fromB, toB } of presentableDiff(before, after, { scanLimit: 2_000, timeout: 500 })) {
      shown.push(after.slice(at, fromB));
      if (toA > fromA) shown.push(<del key={`del ${fromA}`}>{before.slice(fromA, toA)}</del>);
      if (toB > fromB) shown.push(<ins key={`ins ${fromB}`}>{after.slice(fromB, toB)}</ins>);
      at = toB;
    }
    shown.push(after.slice(at));
    return shown;
  }, [before, after]);
  return (
    // What scrolls must be reached by keyboard.
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      {parts}
    </pre>
  );
}
