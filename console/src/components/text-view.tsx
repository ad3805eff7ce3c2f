import { type ReactNode, useMemo, useState } from 'react';
import { formatJson, formatNumber } from '../format.ts';
import { CopyButton } from './copy-button.tsx';
import { type Image, Images, imagesIn, withoutImages } from './images.tsx';
import { RawToggle, useRaw } from './raw.tsx';

const SHOWN_CHARACTERS = 5_000;

/** Text that someone or a model wrote: shown as it is, never as HTML, and cut until all of it is asked for. */
export function TextView({ text, label, tools }: { text: string; label: string; tools?: ReactNode }) {
  const [all, setAll] = useState(false);
  const isCut = !all && text.length > SHOWN_CHARACTERS;
  return (
    <div>
      <pre className="code" aria-label={label} role="region" tabIndex={0}>
        {isCut ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}
      </pre>
      <div className="code-tools">
        {isCut && (
          <button type="button" className="button small" onClick={() => setAll(true)}>
            Show all {formatNumber(text.length)} characters
          </button>
        )}
        {tools}
        <CopyButton text={text} what={label} />
      </div>
    </div>
  );
}

/** A text, and below it the images that it would hold otherwise. *Raw* shows `raw` in place of both. */
export function TextWithImages({
  text,
  images,
  raw,
  label,
}: {
  text: string;
  images: readonly Image[];
  raw: string;
  label: string;
}) {
  const isShownRaw = useRaw();
  return isShownRaw ? (
    <TextView text={raw} label={label} tools={<RawToggle />} />
  ) : (
    <div>
      {text !== '' && (
        <pre className="code" aria-label={label} role="region" tabIndex={0}>
          {text}
        </pre>
      )}
      <Images images={images} label={`images of ${label}`} />
      <div className="code-tools">
        <RawToggle />
        <CopyButton text={raw} what={label} />
      </div>
    </div>
  );
}

export function JsonView({ value, label }: { value: unknown; label: string }) {
  const images = useMemo(() => imagesIn(value), [value]);
  if (images.length === 0) return <TextView text={formatJson(value)} label={label} />;
  return (
    <TextWithImages text={formatJson(withoutImages(value))} images={images} raw={formatJson(value)} label={label} />
  );
}
