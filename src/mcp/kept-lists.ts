import { LRUCache } from 'lru-cache';
import { isObject, type JsonValue } from '../domain/text/json.ts';

/** Maximum number of cached lists, one for each set of scopes and headers. */
const MAX_LISTS = 50;
/** Longer messages, and so their responses, contain something unique. */
const MAX_MESSAGE_LENGTH = 2_000;
/** Placeholder for the message id in a cached response. */
const ID = 'the id of the message';

interface Kept {
  status: number;
  headers: [string, string][];
  /** The parts before and after the id. */
  around: Buffer[];
}

/** Caches responses to `tools/list`. They are long and, except for the id, the same for all callers with the same tools. */
export class KeptLists {
  readonly #lists = new LRUCache<string, Kept>({ max: MAX_LISTS });

  /**
   * @param callers what else the response depends on: scopes and headers
   * @param ask writes the response to a message
   * @returns undefined if the message does not request such a list
   */
  async respond(
    message: JsonValue,
    callers: readonly unknown[],
    ask: (message: JsonValue) => Promise<Response>,
  ): Promise<(Pick<Kept, 'status' | 'headers'> & { body: Buffer }) | undefined> {
    if (!isObject(message) || message['method'] !== 'tools/list') return undefined;
    const { id, ...rest } = message;
    const name = JSON.stringify([rest, ...callers]);
    if ((typeof id !== 'string' && typeof id !== 'number') || name.length > MAX_MESSAGE_LENGTH) return undefined;
    const kept = this.#lists.get(name) ?? (await write({ ...rest, id: ID }, ask));
    // Failures are not cached.
    if (kept.status === 200) this.#lists.set(name, kept);
    const [before = Buffer.alloc(0), ...after] = kept.around;
    return { ...kept, body: Buffer.concat([before, Buffer.from(JSON.stringify(id)), ...after]) };
  }
}

async function write(message: JsonValue, ask: (message: JsonValue) => Promise<Response>): Promise<Kept> {
  const response = await ask(message);
  const around = (await response.text()).split(JSON.stringify(ID)).map((part) => Buffer.from(part));
  return { status: response.status, headers: [...response.headers], around };
}
