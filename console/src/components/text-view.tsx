import { type ReactNode, useMemo, useState } from 'react';
import { formatJson, formatNumber } from '../format.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { type Image, Images, imagesIn, withoutImages } from './images.tsx';
import { RawToggle, useRaw } from './raw.tsx';

const SHOWN_CHARACTERS = 5_000;

/** A text by a person or a model: shown unformatted, never as HTML, and truncated until expanded. */
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
          <Button look="small" onClick={() => setAll(true)}>
            Show all {formatNumber(text.length)} characters
          </Button>
        )}
        {tools}
        <CopyButton text={text} what={label} />
      </div>
    </div>
  );
}

interface RenderedProps {
  /** Shown by *Raw*, and copied. */
  raw: string;
  label: string;
  images: readonly Image[];
}

/** A rendered text with its images below. *Raw* shows `raw` instead. */
export function Rendered({ raw, label, images, children }: RenderedProps & { children: ReactNode }) {
  const isShownRaw = useRaw();
  return isShownRaw ? (
    <TextView text={raw} label={label} tools={<RawToggle />} />
  ) : (
    <div>
      {children}
      <Images images={images} label={`images of ${label}`} />
      <div className="code-tools">
        <RawToggle />
        <CopyButton text={raw} what={label} />
      </div>
    </div>
  );
}

/** A text, with its embedded images below. */
export function TextWithImages({ text, ...props }: RenderedProps & { text: string }) {
  return (
    <Rendered {...props}>
      {text !== '' && (
        <pre className="code" aria-label={props.label} role="region" tabIndex={0}>
          {text}
        </pre>
      )}
    </Rendered>
  );
}

export function JsonView({ value, label }: { value: unknown; label: string }) {
  const images = useMemo(() => imagesIn(value), [value]);
  if (images.length === 0) return <TextView text={formatJson(value)} label={label} />;
  return (
    <TextWithImages text={formatJson(withoutImages(value))} images={images} raw={formatJson(value)} label={label} />
  );
}
