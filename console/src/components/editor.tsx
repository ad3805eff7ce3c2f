import { lazy, Suspense } from 'react';

export interface EditorProps {
  label: string;
  value: string;
  onChange?: (value: string) => void;
  readOnly?: boolean;
  minLines?: number;
}

/** The height of an editor with a text of a few lines, with its border. */
export const editorHeight = (lines: number) => `calc(${lines * 1.55 * 0.8125 + 1}rem + 2px)`;

const TemplateEditor = lazy(async () => ({ default: (await import('./template-editor.tsx')).TemplateEditor }));

/** A text with placeholders. It is shown immediately, and becomes editable when the editor has loaded. */
export function Editor(props: EditorProps) {
  const { value, minLines = 4 } = props;
  return (
    <Suspense
      fallback={
        <pre className="code" style={{ minHeight: editorHeight(minLines) }}>
          {value}
        </pre>
      }
    >
      <TemplateEditor {...props} />
    </Suspense>
  );
}
