import { presentableDiff } from '@codemirror/merge';
import { type ReactNode, useMemo } from 'react';
import { Images, imagesIn } from './images.tsx';

/** A longer comparison would block the browser: nothing is marked. */
const MOST_COMPARED_CHARACTERS = 100_000;

interface Side {
  title: ReactNode;
  /** Null if there is none. */
  text: string | null;
}

/** A text in pieces, with those marked that the other text lacks. */
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

/** Two texts side by side: words in only one of them are marked, by strikethrough or underline as well as color. */
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
        // Scrolling content must be reachable with the keyboard.
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

/** A text with the parts marked that another one lacks. */
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
    // Scrolling content must be reachable with the keyboard.
    <pre className="code marked" tabIndex={0} role="region" aria-label={label}>
      {shown}
    </pre>
  );
}

/** A text with its differences from another one: missing words are struck through, added ones underlined. */
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
    // Scrolling content must be reachable with the keyboard.
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      {parts}
    </pre>
  );
}
