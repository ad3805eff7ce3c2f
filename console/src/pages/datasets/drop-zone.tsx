import { type ReactNode, useId, useState } from 'react';
import './datasets.css';

/** Accepts a dropped or selected file. */
export function DropZone({
  label,
  children,
  onFile,
}: {
  label: string;
  children?: ReactNode;
  onFile: (file: File) => void;
}) {
  const id = useId();
  const [over, setOver] = useState(false);
  return (
    // Dropping is an alternative: the file can be selected with the keyboard.
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    <div
      className="drop-zone"
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer.files[0];
        if (file) onFile(file);
      }}
    >
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept=".jsonl,.ndjson,.jsonlines,.csv,.tsv"
        onChange={(event) => {
          const file = event.target.files?.[0];
          if (file) onFile(file);
          // Allows selecting the same file again after it was changed.
          event.target.value = '';
        }}
      />
      {children}
    </div>
  );
}
