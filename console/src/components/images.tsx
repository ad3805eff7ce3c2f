/** An image sent to a model, or returned by one. */
export interface Image {
  media_type: string;
  filename?: string;
  /** Base64. */
  data?: string;
  url?: string;
}

const TYPES = 'png|jpeg|gif|webp|avif';
const IMAGE_TYPE = new RegExp(`^image/(${TYPES})$`);
const DATA_URL = new RegExp(`data:(image/(?:${TYPES}));base64,([A-Za-z0-9+/]+={0,2})`, 'g');
/** Per value: one with more is not a conversation. */
const MOST_IMAGES = 50;
const MOST_DEPTH = 8;
/** Larger ones are only named: decoding them would block the page. */
const MOST_SHOWN_BYTES = 8 * 1024 * 1024;

export const isImage = (value: unknown): value is Image =>
  typeof value === 'object' &&
  value !== null &&
  'media_type' in value &&
  typeof value.media_type === 'string' &&
  IMAGE_TYPE.test(value.media_type) &&
  ('data' in value || 'url' in value);

const mayHoldImages = (text: string) => text.includes('data:image/');

/** The images in a value: files in API format, and `data:` addresses in texts. */
export function imagesIn(value: unknown, depth = MOST_DEPTH): readonly Image[] {
  if (typeof value === 'string')
    return mayHoldImages(value)
      ? [...value.matchAll(DATA_URL)]
          .slice(0, MOST_IMAGES)
          .map(([, media_type = '', data = '']) => ({ media_type, data }))
      : [];
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  if (isImage(value)) return [value];
  return Object.values(value)
    .flatMap((each) => imagesIn(each, depth - 1))
    .slice(0, MOST_IMAGES);
}

const nameOf = ({ media_type, filename }: Image) => filename ?? media_type;

/** The same value with images replaced by their names. */
export function withoutImages(value: unknown, depth = MOST_DEPTH): unknown {
  if (typeof value === 'string')
    return mayHoldImages(value) ? value.replaceAll(DATA_URL, (_, type: string) => `[${type}]`) : value;
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  if (isImage(value)) return value.data === undefined ? value : `[${nameOf(value)}]`;
  if (Array.isArray(value)) return value.map((each) => withoutImages(each, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutImages(each, depth - 1)]));
}

const bytesOf = (data: string) => Math.floor((data.length * 3) / 4);

/** Shows images given as bytes; for others the address, because nothing is loaded from elsewhere. */
export function Images({ images, label = 'Images' }: { images: readonly Image[]; label?: string }) {
  if (images.length === 0) return null;
  return (
    <ul className="images" aria-label={label}>
      {images.map((image, index) => (
        // They have no ids, and keep their order.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={index}>
          <ImageView image={image} />
        </li>
      ))}
    </ul>
  );
}

function ImageView({ image }: { image: Image }) {
  const { media_type, data, url } = image;
  if (data === undefined) return <code>{url}</code>;
  const size = `${Math.ceil(bytesOf(data) / 1024).toLocaleString('en-US')} KiB`;
  return (
    <figure>
      {bytesOf(data) <= MOST_SHOWN_BYTES && (
        <img src={`data:${media_type};base64,${data}`} alt={nameOf(image)} decoding="async" />
      )}
      <figcaption>
        {nameOf(image)}, {size}
      </figcaption>
    </figure>
  );
}

/** An image in a table row; empty if it is only an address. */
export function Thumbnail({ image }: { image: Image }) {
  const { media_type, data } = image;
  return data !== undefined && bytesOf(data) <= MOST_SHOWN_BYTES ? (
    <img className="thumbnail" src={`data:${media_type};base64,${data}`} alt={nameOf(image)} decoding="async" />
  ) : null;
}
