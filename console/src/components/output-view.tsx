import { lazy, Suspense, useMemo } from 'react';
import { type Image, imagesIn, withoutImages } from './images.tsx';
import { parsedJson } from './json-text.ts';
import { JsonTree } from './json-tree.tsx';
import { Rendered, TextView, TextWithImages } from './text-view.tsx';

const MarkdownView = lazy(() => import('./markdown-view.tsx').then((module) => ({ default: module.MarkdownView })));

/** Longer texts are shown as they are: to render them would hold up the page. */
const MOST_RENDERED_CHARACTERS = 100_000;

/** What Markdown has and plain text hardly ever: headings, lists, code, tables, emphasis, links. */
const MARKDOWN = /^(#{1,6} |[*+-] |\d+\. |> |```|\|.*\|$)|\*\*\S|`[^`\n]+`|\[[^\]\n]+\]\([^)\s]+\)/m;

const NONE: readonly Image[] = [];

/** What a text is, and the images that are shown below it in place of what it says of them. */
function readText(text: string) {
  const inText = imagesIn(text);
  const words = inText.length === 0 ? text : (withoutImages(text) as string);
  if (words.length > MOST_RENDERED_CHARACTERS) return { words, images: inText };
  const json = parsedJson(text);
  if (json !== undefined)
    return { words, json: withoutImages(json) as object, images: inText.length === 0 ? imagesIn(json) : inText };
  // Markdown shows its images where they are.
  if (MARKDOWN.test(words)) return { words: text, isMarkdown: true, images: NONE };
  return { words: inText.length === 1 && /^\[[^\]]*\]$/.test(words.trim()) ? '' : words, images: inText };
}

/**
 * A text that a model wrote or read, rendered for what it is: JSON as a tree, Markdown as what it means, anything else as it is. Nothing in it
 * can run, and nothing is loaded for it. *Raw* shows it as it is; so does the key `v`.
 */
export function OutputView({
  text,
  label,
  images: given = NONE,
  raw = text,
}: {
  text: string;
  label: string;
  /** What belongs to the text, and is not in it. */
  images?: readonly Image[];
  /** What holds both, where there are such images. */
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
      {/* What scrolls must be reached by keyboard. */}
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
