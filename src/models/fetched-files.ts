import { type ChatMessage, MAX_FILE_BYTES } from '../domain/messages.ts';
import { DownloadError, type Downloader } from '../outbound/download.ts';
import { ModelError } from './model-error.ts';
import type { FilePart } from './sdk-prompt.ts';

/** Bytes of all files that are fetched for one call, counted once for each part that names them: each part is sent as a copy. */
const MAX_FETCHED_BYTES = 2 * MAX_FILE_BYTES;

/** What servers call a file whose type they don't know. */
const UNKNOWN_TYPES = new Set(['', 'application/octet-stream', 'binary/octet-stream']);
const USUAL_NAMES = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
]);

/**
 * The messages with the bytes of every file that the provider does not fetch itself. A file that stands in them more than
 * once is fetched once.
 *
 * @param isFetchedByProvider whether a file's address may go to the provider as it is
 * @throws ModelError `model_invalid_request` where a file can't be had or is not what it is said to be, `model_unavailable` where its
 *   server may give it later; the reason of `signal` once it has aborted
 */
export async function withFetchedFiles(
  messages: ChatMessage[],
  isFetchedByProvider: (mediaType: string, url: string) => boolean,
  downloader: Downloader,
  signal: AbortSignal,
): Promise<ChatMessage[]> {
  const isFetchedHere = ({ media_type, url }: FilePart): boolean =>
    url !== undefined && !isFetchedByProvider(media_type, url);
  const wanted = new Map<string, Wanted>();
  replaceFiles(messages, (file) => {
    const { url = '', media_type: mediaType } = file;
    if (isFetchedHere(file)) wanted.set(url, { mediaType, parts: (wanted.get(url)?.parts ?? 0) + 1 });
    return file;
  });
  if (wanted.size === 0) return messages;
  const fetched = await fetchAll([...wanted], downloader, signal);
  return replaceFiles(messages, (file) => {
    if (!isFetchedHere(file)) return file;
    const { url = '', ...rest } = file;
    return { ...rest, ...fetched.get(url) };
  });
}

function replaceFiles(messages: ChatMessage[], replace: (file: FilePart) => FilePart): ChatMessage[] {
  const replaced = <Part extends { type: string }>(part: Part | FilePart) => (isFile(part) ? replace(part) : part);
  return messages.map((message) => {
    if (typeof message.content === 'string') return message;
    if (message.role === 'user') return { ...message, content: message.content.map(replaced) };
    if (message.role === 'assistant') return { ...message, content: message.content.map(replaced) };
    return message;
  });
}

/** A file to fetch, and how many parts name it. */
interface Wanted {
  mediaType: string;
  parts: number;
}

type Fetched = Pick<FilePart, 'media_type' | 'data'>;

async function fetchAll(
  files: [url: string, wanted: Wanted][],
  downloader: Downloader,
  signal: AbortSignal,
): Promise<Map<string, Fetched>> {
  // One that fails ends the others.
  const failed = new AbortController();
  let left = MAX_FETCHED_BYTES;
  const onBytes = (bytes: number) => {
    left -= bytes;
    if (left < 0)
      throw new DownloadError(
        `the files of this call are larger than ${MAX_FETCHED_BYTES} bytes together, counted once for each part that names them`,
        false,
      );
  };
  const options = { maxBytes: MAX_FILE_BYTES, signal: AbortSignal.any([signal, failed.signal]) };
  try {
    const fetched = files.map(async ([url, { mediaType: declared, parts }]): Promise<[string, Fetched]> => {
      try {
        const counted = { ...options, onBytes: (bytes: number) => onBytes(bytes * parts) };
        const { mediaType, bytes } = await downloader.get(url, counted);
        return [url, { media_type: agreedType(declared, mediaType), data: bytes.toString('base64') }];
      } catch (error) {
        throw error instanceof DownloadError ? unfetched(url, error) : error;
      }
    });
    return new Map(await Promise.all(fetched));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

/** @throws DownloadError where the server calls the file something else */
function agreedType(declared: string, served: string): string {
  const [wanted, got] = [declared, served].map((type) => USUAL_NAMES.get(type) ?? type);
  if (wanted === undefined || got === undefined || UNKNOWN_TYPES.has(got)) return declared;
  if (wanted === got) return declared;
  if (wanted.endsWith('/*') && got.startsWith(wanted.slice(0, -1))) return got;
  throw new DownloadError(`it is ${got.slice(0, 100)}, not ${declared}`, false);
}

/** Names the host alone: the rest of an address may be a secret. */
function unfetched(url: string, error: DownloadError): ModelError {
  const message = `A file at ${new URL(url).host} could not be fetched: ${error.message}.`;
  return new ModelError(error.retryable ? 'model_unavailable' : 'model_invalid_request', message);
}

function isFile(part: { type: string }): part is FilePart {
  return part.type === 'file';
}

/** Whether a provider fetches such a file, by the addresses that its SDK names for a type (`image/png`, `image/*` or `*`). */
export function isFetchedBy(supported: Record<string, RegExp[]>, mediaType: string, url: string): boolean {
  return Object.entries(supported).some(([type, addresses]) => {
    const matches = type.endsWith('*') ? mediaType.startsWith(type.slice(0, -1)) : mediaType === type;
    return matches && addresses.some((address) => address.test(url));
  });
}
