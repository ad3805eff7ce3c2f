import { lazy, Suspense } from 'react';

export interface EditorProps {
  label: string;
  value: string;
  onChange?: (value: string) => void;
  readOnly?: boolean;
  minLines?: number;
}

const TemplateEditor = lazy(async () => ({ default: (await import('./template-editor.tsx')).TemplateEditor }));

/** A text with placeholders. It is shown immediately, and becomes editable when the editor has loaded. */
export function Editor(props: EditorProps) {
  const { value, minLines = 4 } = props;
  return (
    <Suspense
      fallback={
        <pre className="code" style={{ minHeight: `${minLines * 1.55 + 1}em` }}>
          {value}
        </pre>
      }
    >
      <TemplateEditor {...props} />
    </Suspense>
  );
}
