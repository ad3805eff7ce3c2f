import { Compartment } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { type EditorProps, editorHeight } from './editor.tsx';
import { editorSetup } from './editor-setup.ts';

const TYPING_MS = 200;

/**
 * An editor for a text with placeholders. Large texts stay fast: only visible lines are drawn, and changes are passed on when typing
 * pauses, on blur, and with Ctrl+Enter.
 */
export function TemplateEditor({ label, value, onChange, readOnly = false, minLines = 4 }: EditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const setup = useRef(new Compartment());
  /** The text last passed on or received. */
  const known = useRef(value);
  const latest = useRef({ onChange, value, label, readOnly });
  latest.current = { onChange, value, label, readOnly };

  useEffect(() => {
    if (!parent.current) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const passOn = () => {
      clearTimeout(timer);
      const text = created.state.doc.toString();
      if (text === known.current) return;
      known.current = text;
      latest.current.onChange?.(text);
    };
    // The page uses these for "run", "submit" or "save" with the current text. They do nothing else here.
    const submit = () => {
      flushSync(passOn);
      return true;
    };
    const created = new EditorView({
      parent: parent.current,
      doc: latest.current.value,
      extensions: [
        keymap.of([
          { key: 'Mod-Enter', run: submit },
          { key: 'Mod-s', run: submit },
        ]),
        setup.current.of(editorSetup(latest.current.label, { readOnly: latest.current.readOnly })),
        EditorView.theme({
          '.cm-scroller': { maxHeight: '36rem', overflow: 'auto' },
          '.cm-content, .cm-gutter': { minHeight: `${minLines * 1.55 * 0.8125 + 1}rem` },
        }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          clearTimeout(timer);
          timer = setTimeout(passOn, TYPING_MS);
        }),
        EditorView.domEventHandlers({ blur: passOn }),
      ],
    });
    view.current = created;
    // Before other listeners check for unsaved changes.
    window.addEventListener('beforeunload', passOn, { capture: true });
    return () => {
      window.removeEventListener('beforeunload', passOn, { capture: true });
      passOn();
      created.destroy();
    };
  }, [minLines]);

  useEffect(() => {
    view.current?.dispatch({ effects: setup.current.reconfigure(editorSetup(label, { readOnly })) });
  }, [label, readOnly]);

  useEffect(() => {
    const current = view.current;
    if (current === undefined || known.current === value) return;
    known.current = value;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={parent} className="editor" style={{ minHeight: editorHeight(minLines) }} />;
}
