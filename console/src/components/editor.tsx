import { Compartment } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorSetup } from './editor-setup.ts';

/** A text with placeholders. Large ones stay quick: only the lines in view are drawn. */
export function Editor({
  label,
  value,
  onChange,
  readOnly = false,
  minLines = 4,
  onSubmit,
}: {
  label: string;
  value: string;
  onChange?: (value: string) => void;
  readOnly?: boolean;
  minLines?: number;
  /** Ctrl+Enter. */
  onSubmit?: (() => void) | undefined;
}) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const setup = useRef(new Compartment());
  /** What the editor holds. Reading it out of the editor takes time where it is long. */
  const held = useRef(value);
  const latest = useRef({ onChange, onSubmit, value, label, readOnly });
  latest.current = { onChange, onSubmit, value, label, readOnly };

  useEffect(() => {
    if (!parent.current) return;
    const submit = () => {
      latest.current.onSubmit?.();
      return latest.current.onSubmit !== undefined;
    };
    const created = new EditorView({
      parent: parent.current,
      doc: latest.current.value,
      extensions: [
        keymap.of([{ key: 'Mod-Enter', run: submit }]),
        setup.current.of(editorSetup(latest.current.label, { readOnly: latest.current.readOnly })),
        EditorView.theme({
          '.cm-scroller': { maxHeight: '36rem', overflow: 'auto' },
          '.cm-content, .cm-gutter': { minHeight: `${minLines * 1.55 * 0.8125 + 1}rem` },
        }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          held.current = update.state.doc.toString();
          latest.current.onChange?.(held.current);
        }),
      ],
    });
    view.current = created;
    return () => created.destroy();
  }, [minLines]);

  useEffect(() => {
    view.current?.dispatch({ effects: setup.current.reconfigure(editorSetup(label, { readOnly })) });
  }, [label, readOnly]);

  useEffect(() => {
    const current = view.current;
    if (current === undefined || held.current === value) return;
    held.current = value;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={parent} className="editor" />;
}
