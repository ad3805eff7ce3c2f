import { LRUCache } from 'lru-cache';
import { isObject, type JsonValue } from '../domain/text/json.ts';

/** Sets of scopes and of headers for which a list is kept. */
const MAX_LISTS = 50;
/** Longer messages have something of their own in them, and so has the response. */
const MAX_MESSAGE_LENGTH = 2_000;
/** Stands for the id of a message in a response that is kept. */
const ID = 'the id of the message';

interface Kept {
  status: number;
  headers: [string, string][];
  /** What comes before and after the id. */
  around: Buffer[];
}

/** Responses to `tools/list`. They are long, and the same for all who can use the same tools, but for the id: each is written once. */
export class KeptLists {
  readonly #lists = new LRUCache<string, Kept>({ max: MAX_LISTS });

  /**
   * @param callers what else the response depends on: scopes and headers
   * @param ask writes the response to a message
   * @returns undefined where the message is not for such a list
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
    // What failed may succeed the next time.
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
