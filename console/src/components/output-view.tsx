import { lazy, Suspense, useMemo } from 'react';
import { type Image, imagesIn, withoutImages } from './images.tsx';
import { parsedJson } from './json-text.ts';
import { JsonTree } from './json-tree.tsx';
import { Rendered, TextView, TextWithImages } from './text-view.tsx';

const MarkdownView = lazy(() => import('./markdown-view.tsx').then((module) => ({ default: module.MarkdownView })));

/** Longer texts are shown unformatted: rendering them would block the page. */
const MOST_RENDERED_CHARACTERS = 100_000;

/** Syntax typical of Markdown and rare in plain text: headings, lists, code, tables, emphasis, links. */
const MARKDOWN = /^(#{1,6} |[*+-] |\d+\. |> |```|\|.*\|$)|\*\*\S|`[^`\n]+`|\[[^\]\n]+\]\([^)\s]+\)/m;

const NONE: readonly Image[] = [];

/** The format of a text, and the images shown below it. */
function readText(text: string) {
  const inText = imagesIn(text);
  const words = inText.length === 0 ? text : (withoutImages(text) as string);
  if (words.length > MOST_RENDERED_CHARACTERS) return { words, images: inText };
  const json = parsedJson(text);
  if (json !== undefined)
    return { words, json: withoutImages(json) as object, images: inText.length === 0 ? imagesIn(json) : inText };
  // Markdown shows its images inline.
  if (MARKDOWN.test(words)) return { words: text, isMarkdown: true, images: NONE };
  return { words: inText.length === 1 && /^\[[^\]]*\]$/.test(words.trim()) ? '' : words, images: inText };
}

/**
 * A text that a model wrote or read, rendered by its format: JSON as a tree, Markdown formatted, anything else unchanged. Nothing in it
 * is executed or loaded. *Raw* and the key `v` show it unchanged.
 */
export function OutputView({
  text,
  label,
  images: given = NONE,
  raw = text,
}: {
  text: string;
  label: string;
  /** Images that belong to the text but are not in it. */
  images?: readonly Image[];
  /** The raw text of both, if there are such images. */
  raw?: string;
}) {
  const { words, json, isMarkdown = false, images: own } = useMemo(() => readText(text), [text]);
  const images = own.length === 0 ? given : [...own, ...given];
  if (json === undefined && !isMarkdown)
    return images.length === 0 ? (
      <TextView text={text} label={label} />
    ) : (
      <TextWithImages text={words} images={images} raw={raw} label={label} />
    );
  return (
    <Rendered raw={raw} label={label} images={images}>
      {/* Scrolling content must be reachable with the keyboard. */}
      <div className="rendered" role="region" aria-label={label} tabIndex={0}>
        {json !== undefined ? (
          <JsonTree value={json} />
        ) : (
          <Suspense fallback={<p className="muted">Loading…</p>}>
            <MarkdownView text={words} />
          </Suspense>
        )}
      </div>
    </Rendered>
  );
}
