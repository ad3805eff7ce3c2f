import { type RefObject, useEffect } from 'react';

const MOST_MARKED = 2_000;

/** The words and phrases of a search. */
const searchTerms = (text: string) =>
  (text.toLowerCase().match(/"[^"]*"?|[^\s"]+/g) ?? [])
    .map((term) => term.replaceAll('"', '').trim())
    .filter((term) => term !== '');

function* rangesOf(root: Node, terms: readonly string[]): Generator<Range> {
  const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const text = node.textContent?.toLowerCase() ?? '';
    // A letter can change its length in lower case; then positions would be wrong.
    if (text.length !== node.textContent?.length) continue;
    for (const term of terms)
      for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + term.length);
        yield range;
      }
  }
}

/**
 * Marks the words of a search in the texts of an element, without changing its elements: also in rows and texts that appear later.
 * @param search undefined for none
 */
export function useHits(root: RefObject<HTMLElement | null>, search: string | undefined): void {
  useEffect(() => {
    const element = root.current;
    const terms = searchTerms(search ?? '');
    // Older browsers do not mark.
    if (element === null || terms.length === 0 || !('highlights' in CSS)) return;
    let frame = 0;
    const mark = () => {
      frame = 0;
      const hits = new Highlight();
      for (const range of rangesOf(element, terms)) {
        if (hits.size >= MOST_MARKED) break;
        hits.add(range);
      }
      CSS.highlights.set('hits', hits);
    };
    const observer = new MutationObserver(() => {
      if (frame === 0) frame = requestAnimationFrame(mark);
    });
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    mark();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete('hits');
    };
  }, [root, search]);
}
