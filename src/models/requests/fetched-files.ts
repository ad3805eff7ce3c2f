import { type ChatMessage, MAX_FILE_BYTES } from '../../domain/prompts/messages.ts';
import type { FairSemaphore, Release } from '../../lib/fair-semaphore.ts';
import type { Turns } from '../../lib/turns.ts';
import { DownloadError, type Downloader } from '../../outbound/download.ts';
import { ModelError } from '../model-error.ts';
import type { FilePart } from './sdk-prompt.ts';

/**
 * Total size of the files fetched for one call, counted once per part that names them because each part is sent as a copy. Providers
 * accept about as much per request: https://ai.google.dev/gemini-api/docs/file-input-methods (20 MB),
 * https://docs.anthropic.com/en/api/overview (32 MB).
 */
const MAX_FETCHED_BYTES = MAX_FILE_BYTES;
/** Enough for most calls. Calls with larger files fetch them again once there is room for the maximum. */
const USUAL_FETCHED_BYTES = MAX_FETCHED_BYTES / 5;
/**
 * A byte of a file is in the chunks received, in its message as base64, which takes a third more, and in the data sent. A byte of a text
 * file is also in the SDK's request and in the one created from it.
 */
const FETCHED_FACTOR = 8;

/** A workspace's step handles this much of a file. */
const STEP_BYTES = 512 * 1024;
/** From this size, a file takes a turn while it is encoded. */
const LARGE_BYTES = 256 * 1024;

/** Types that servers use for files of unknown type. */
const UNKNOWN_TYPES = new Set(['', 'application/octet-stream', 'binary/octet-stream']);
const USUAL_NAMES = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
]);

/** The files of a call exceed the reserved memory. */
class NoRoomError extends DownloadError {}

/** The dependencies for fetching files. */
export interface FileFetcher {
  downloader: Downloader;
  /** The memory for the files of calls, by workspace. */
  memory: FairSemaphore;
  turns: Turns;
}

/** Messages with their files. */
export interface FilledMessages {
  messages: ChatMessage[];
  /** Called when the call has ended, to release its files. */
  release: Release;
}

/**
 * Fills messages with the bytes of every file that the provider does not fetch itself. A file named more than once is fetched once.
 *
 * @param workspace public id, whose memory share they use
 * @param isFetchedByProvider whether a file's address can go to the provider unchanged
 * @throws ModelError `model_invalid_request` if a file is unavailable or not of the declared type, `model_unavailable` if its server
 * may deliver it later; the reason of `signal` once it has aborted
 */
export async function withFetchedFiles(
  messages: ChatMessage[],
  isFetchedByProvider: (mediaType: string, url: string) => boolean,
  { downloader, memory, turns }: FileFetcher,
  workspace: string,
  signal: AbortSignal,
): Promise<FilledMessages> {
  const isFetchedHere = ({ media_type, url }: FilePart): boolean =>
    url !== undefined && !isFetchedByProvider(media_type, url);
  const wanted = new Map<string, Wanted>();
  replaceFiles(messages, (file) => {
    const { url = '', media_type: mediaType } = file;
    if (isFetchedHere(file)) wanted.set(url, { mediaType, parts: (wanted.get(url)?.parts ?? 0) + 1 });
    return file;
  });
  if (wanted.size === 0) return { messages, release: () => {} };
  // A download has a time limit, so it goes ahead of other calls' requests.
  const turn = { signal: () => signal, group: 'calls', urgent: true };
  const pace = {
    step: () => turns.step(workspace, turn),
    take: () => turns.take(workspace, turn),
  };

  async function fetchWithin(maxBytes: number): Promise<FilledMessages> {
    const release = await memory.acquire(workspace, { amount: FETCHED_FACTOR * maxBytes, signal });
    try {
      const { fetched, bytes } = await fetchAll([...wanted], { downloader, pace }, maxBytes, signal);
      release(FETCHED_FACTOR * bytes);
      const filled = replaceFiles(messages, (file) => {
        if (!isFetchedHere(file)) return file;
        const { url = '', ...rest } = file;
        return { ...rest, ...fetched.get(url) };
      });
      return { messages: filled, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  try {
    return await fetchWithin(USUAL_FETCHED_BYTES);
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
  }
  try {
    return await fetchWithin(MAX_FETCHED_BYTES);
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
    throw new ModelError(
      'model_invalid_request',
      `The files of this call are larger than ${MAX_FETCHED_BYTES} bytes together, counted once for each part that names them.`,
    );
  }
}

/** The total characters of all texts and files. */
export function lengthOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => {
    if (content === null || typeof content === 'string') return sum + (content?.length ?? 0);
    return content.reduce((parts, part) => {
      const text = 'text' in part ? part.text : 'data' in part ? part.data : undefined;
      return parts + (text?.length ?? 0);
    }, sum);
  }, 0);
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

/** A file to fetch and the number of parts that name it. */
interface Wanted {
  mediaType: string;
  parts: number;
}

/** The turns of the workspace that owns the files. */
interface Pace {
  step(): Promise<void>;
  take(): Promise<Release>;
}

type Fetched = Pick<FilePart, 'media_type' | 'data'>;

async function fetchAll(
  files: [url: string, wanted: Wanted][],
  { downloader, pace }: { downloader: Downloader; pace: Pace },
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ fetched: Map<string, Fetched>; bytes: number }> {
  // One failure ends the others.
  const failed = new AbortController();
  let bytes = 0;
  let bytesSinceStep = 0;
  const onBytes = async (more: number, parts: number) => {
    bytes += more * parts;
    if (bytes > maxBytes) throw new NoRoomError('there is no room for it', false);
    bytesSinceStep += more;
    if (bytesSinceStep < STEP_BYTES) return;
    bytesSinceStep = 0;
    await pace.step();
  };
  const options = { maxBytes: MAX_FILE_BYTES, signal: AbortSignal.any([signal, failed.signal]) };
  try {
    const fetched = files.map(async ([url, { mediaType: declared, parts }]): Promise<[string, Fetched]> => {
      try {
        const counted = { ...options, onBytes: (more: number) => onBytes(more, parts) };
        const file = await downloader.get(url, counted);
        return [url, { media_type: agreedType(declared, file.mediaType), data: await encoded(file.bytes, pace) }];
      } catch (error) {
        throw error instanceof DownloadError && !(error instanceof NoRoomError) ? unfetched(url, error) : error;
      }
    });
    return { fetched: new Map(await Promise.all(fetched)), bytes };
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

async function encoded(bytes: Buffer, pace: Pace): Promise<string> {
  const endTurn = bytes.length < LARGE_BYTES ? () => {} : await pace.take();
  const data = bytes.toString('base64');
  endTurn();
  return data;
}

/** @throws DownloadError if the server declares another type */
function agreedType(declared: string, served: string): string {
  const [wanted, got] = [declared, served].map((type) => USUAL_NAMES.get(type) ?? type);
  if (wanted === undefined || got === undefined || UNKNOWN_TYPES.has(got)) return declared;
  if (wanted === got) return declared;
  if (wanted.endsWith('/*') && got.startsWith(wanted.slice(0, -1))) return got;
  throw new DownloadError(`it is ${got.slice(0, 100)}, not ${declared}`, false);
}

/** Names only the host: the rest of an address may be secret. */
function unfetched(url: string, error: DownloadError): ModelError {
  const message = `A file at ${new URL(url).host} could not be fetched: ${error.message}.`;
  return new ModelError(error.retryable ? 'model_unavailable' : 'model_invalid_request', message);
}

function isFile(part: { type: string }): part is FilePart {
  return part.type === 'file';
}

/**
 * Whether a provider fetches such a file itself, by the addresses that its SDK lists for a type (`image/png`, `image/*` or
 * `*`).
 */
export function isFetchedBy(supported: Record<string, RegExp[]>, mediaType: string, url: string): boolean {
  return Object.entries(supported).some(([type, addresses]) => {
    const matches = type.endsWith('*') ? mediaType.startsWith(type.slice(0, -1)) : mediaType === type;
    return matches && addresses.some((address) => address.test(url));
  });
}
