import { MergeView } from '@codemirror/merge';
import { useEffect, useRef } from 'react';
import { editorSetup } from './editor-setup.ts';

/** A text of a comparison, and what it is called. */
export interface DiffSide {
  title: string;
  text: string;
}

/** Two texts side by side, with what differs marked. What is the same is folded. */
export function DiffView({ before, after }: { before: DiffSide; after: DiffSide }) {
  const parent = useRef<HTMLDivElement>(null);
  const { title: titleBefore, text: textBefore } = before;
  const { title: titleAfter, text: textAfter } = after;
  useEffect(() => {
    if (!parent.current) return;
    const view = new MergeView({
      parent: parent.current,
      a: { doc: textBefore, extensions: editorSetup(titleBefore, { readOnly: true }) },
      b: { doc: textAfter, extensions: editorSetup(titleAfter, { readOnly: true }) },
      collapseUnchanged: { margin: 3 },
      diffConfig: { scanLimit: 2_000, timeout: 500 },
    });
    return () => view.destroy();
  }, [titleBefore, textBefore, titleAfter, textAfter]);
  return (
    <div className="diff">
      <div className="diff-titles">
        <span>{titleBefore}</span>
        <span>{titleAfter}</span>
      </div>
      {textBefore === textAfter && <p className="diff-titles muted">These are the same.</p>}
      <div ref={parent} />
    </div>
  );
}
