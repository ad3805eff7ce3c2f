import { useMemo } from 'react';
import { formatJson } from '../format.ts';
import { imagesIn, isImage, withoutImages } from './images.tsx';
import { OutputView } from './output-view.tsx';

/** A sent or stored message; parts other than text and images are shown as JSON. */
interface Message {
  role?: string;
  content?: unknown;
  placeholder?: string;
}

const textOf = (part: unknown): string | undefined =>
  typeof part === 'object' && part !== null && 'type' in part && part.type === 'text' && 'text' in part
    ? String(part.text)
    : undefined;

/** The text of a content, its images, and a text with everything. */
function readContent(content: unknown) {
  if (typeof content === 'string') return { text: content, images: [], raw: content };
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const joined = (shown: (part: unknown) => string) => parts.map((part) => textOf(part) ?? shown(part));
  return {
    text: joined((part) => (isImage(part) ? '' : formatJson(withoutImages(part))))
      .filter((each) => each !== '')
      .join('\n\n'),
    images: parts.filter((part) => textOf(part) === undefined).flatMap((part) => imagesIn(part)),
    raw: joined(formatJson).join('\n\n'),
  };
}

function Content({ content, label }: { content: unknown; label: string }) {
  const { text, images, raw } = useMemo(() => readContent(content), [content]);
  return <OutputView text={text} images={images} raw={raw} label={label} />;
}

/** The input of a model: a text, or messages. */
export function MessagesView({ input }: { input: string | readonly unknown[] }) {
  if (typeof input === 'string') return <OutputView text={input} label="input" />;
  return (
    <ol className="stack messages">
      {(input as Message[]).map((message, index) => (
        // Messages have no ids, and keep their order.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={index}>
          <h3>{message.role ?? `placeholder ${message.placeholder}`}</h3>
          {message.content !== undefined && (
            <Content content={message.content} label={`${message.role} message ${index + 1}`} />
          )}
        </li>
      ))}
    </ol>
  );
}
