import type { Execution } from '../../api-types.ts';

/** An image that goes to a model. */
interface Image {
  media_type: string;
  filename?: string;
  /** Base64. */
  data?: string;
  url?: string;
}

const isImage = (value: unknown): value is Image =>
  typeof value === 'object' &&
  value !== null &&
  'media_type' in value &&
  typeof value.media_type === 'string' &&
  /^image\/(png|jpeg|gif|webp|avif)$/.test(value.media_type);

/** The images among variables. */
export const imagesIn = (values: Record<string, unknown>): Image[] => Object.values(values).filter(isImage);

/** Those of messages. */
export const imagesOf = (input: Execution['input']): Image[] =>
  typeof input === 'string'
    ? []
    : input.flatMap(({ content }): unknown[] => (typeof content === 'string' ? [] : content)).filter(isImage);

/** What was sent, with the names of files in place of what they hold. */
export const withoutFiles = (input: Execution['input']) =>
  typeof input === 'string'
    ? input
    : input.map((message) => ({
        ...message,
        content:
          typeof message.content === 'string'
            ? message.content
            : message.content.map((part) =>
                part.type === 'file' ? { type: 'text', text: `[${part.filename ?? part.media_type}]` } : part,
              ),
      }));

/** Images that were given as bytes are shown; of others the address: nothing is loaded from elsewhere. */
export function Images({ images }: { images: readonly Image[] }) {
  if (images.length === 0) return null;
  return (
    <ul className="bench-images">
      {images.map(({ media_type, filename = 'image', data, url }, index) => (
        // They have no ids, and stay in their order.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={index}>
          {data === undefined ? <code>{url}</code> : <img src={`data:${media_type};base64,${data}`} alt={filename} />}
        </li>
      ))}
    </ul>
  );
}
