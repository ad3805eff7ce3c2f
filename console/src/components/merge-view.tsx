import { MergeView as MergeEditors } from '@codemirror/merge';
import { useEffect, useRef } from 'react';
import type { DiffSide } from './diff-view.tsx';
import { editorSetup } from './editor-setup.ts';

/** Two texts side by side with differences marked. Equal parts are folded. */
export function MergeView({ before, after }: { before: DiffSide; after: DiffSide }) {
  const parent = useRef<HTMLDivElement>(null);
  const { title: titleBefore, text: textBefore } = before;
  const { title: titleAfter, text: textAfter } = after;
  useEffect(() => {
    if (!parent.current) return;
    const view = new MergeEditors({
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
