import { lazy, Suspense, useSyncExternalStore } from 'react';
import { CopyButton } from './copy-button.tsx';
import { parsedJson } from './json-text.ts';
import { JsonTree } from './json-tree.tsx';
import { TextView } from './text-view.tsx';

const MarkdownView = lazy(() => import('./markdown-view.tsx').then((module) => ({ default: module.MarkdownView })));

/** Longer texts are shown as they are: to render them would hold up the page. */
const MOST_RENDERED_CHARACTERS = 100_000;

/** What Markdown has and plain text hardly ever: headings, lists, code, tables, emphasis, links. */
const MARKDOWN = /^(#{1,6} |[*+-] |\d+\. |> |```|\|.*\|$)|\*\*\S|`[^`\n]+`|\[[^\]\n]+\]\([^)\s]+\)/m;

const CHANGED = 'pms-raw-changed';
const STORED_AS = 'pms-raw';
let raw = readRaw();

function readRaw(): boolean {
  try {
    return localStorage.getItem(STORED_AS) === 'true';
  } catch {
    return false;
  }
}

/** Whether texts of models are shown as they are, on all pages of this browser. */
export function setRaw(next: boolean): void {
  raw = next;
  try {
    localStorage.setItem(STORED_AS, String(next));
  } catch {
    // It holds until the page is left.
  }
  window.dispatchEvent(new Event(CHANGED));
}

export const isRaw = () => raw;

function subscribe(listener: () => void): () => void {
  window.addEventListener(CHANGED, listener);
  return () => window.removeEventListener(CHANGED, listener);
}

/**
 * A text that a model wrote or read, rendered for what it is: JSON as a tree, Markdown as what it means, anything else as it is. Nothing in it
 * can run, and nothing is loaded for it. *Raw* shows it as it is; so does the key `v`.
 */
export function OutputView({ text, label }: { text: string; label: string }) {
  const isShownRaw = useSyncExternalStore(subscribe, isRaw);
  const fits = text.length <= MOST_RENDERED_CHARACTERS;
  const json = fits ? parsedJson(text) : undefined;
  const isMarkdown = fits && json === undefined && MARKDOWN.test(text);
  if (json === undefined && !isMarkdown) return <TextView text={text} label={label} />;
  const toggle = (
    <button
      type="button"
      className="button small"
      aria-pressed={isShownRaw}
      aria-keyshortcuts="v"
      onClick={() => setRaw(!isShownRaw)}
    >
      Raw
    </button>
  );
  if (isShownRaw) return <TextView text={text} label={label} tools={toggle} />;
  return (
    <div>
      {/* What scrolls must be reached by keyboard. */}
      <div className="rendered" role="region" aria-label={label} tabIndex={0}>
        {json !== undefined ? (
          <JsonTree value={json} />
        ) : (
          <Suspense fallback={<p className="muted">Loading…</p>}>
            <MarkdownView text={text} />
          </Suspense>
        )}
      </div>
      <div className="code-tools">
        {toggle}
        <CopyButton text={text} what={label} />
      </div>
    </div>
  );
}
