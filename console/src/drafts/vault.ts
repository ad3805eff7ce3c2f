/** Maximum characters of one encrypted draft in the browser. */
const MAX_ENTRY_CHARS = 1_000_000;
/** Maximum characters of all drafts in this browser: browsers give an origin about five million. */
const MAX_TOTAL_CHARS = 3_000_000;
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;
const PREFIX = 'pms-draft:';

/** Stored under `pms-draft:<owner>:<id>`. */
interface Entry {
  /** When it was written, in milliseconds. */
  at: number;
  iv: string;
  data: string;
}

const toBase64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

function entriesOf(): { name: string; at: number; chars: number }[] {
  return Object.keys(localStorage)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => {
      const text = localStorage.getItem(name) ?? '';
      let at = 0;
      try {
        at = Number((JSON.parse(text) as Entry).at) || 0;
      } catch {
        // Written by something else: treat it as the oldest.
      }
      return { name, at, chars: text.length };
    });
}

/**
 * Drafts of one API key in this browser, encrypted with a secret that the service gives only to sessions of that key. Without the session
 * they can't be read, neither by the next user nor from the disk.
 */
export class Vault {
  readonly #prefix: string;
  readonly #key: CryptoKey;

  private constructor(prefix: string, key: CryptoKey) {
    this.#prefix = prefix;
    this.#key = key;
  }

  /** @returns undefined if this browser can't encrypt (a page without https) or has no storage */
  static async open(owner: string, secret: string): Promise<Vault | undefined> {
    try {
      const key = await crypto.subtle.importKey('raw', fromBase64(secret), 'AES-GCM', false, ['encrypt', 'decrypt']);
      for (const { name, at } of entriesOf()) if (Date.now() - at > MAX_AGE_MS) localStorage.removeItem(name);
      return new Vault(`${PREFIX}${owner}:`, key);
    } catch {
      return undefined;
    }
  }

  /** The draft id of a storage entry; undefined if it does not belong to this vault. */
  idOf(name: string): string | undefined {
    return name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : undefined;
  }

  ids(): string[] {
    return Object.keys(localStorage).flatMap((name) => this.idOf(name) ?? []);
  }

  /** @returns undefined if it is missing or unreadable */
  async read(id: string): Promise<unknown> {
    const text = localStorage.getItem(this.#prefix + id);
    if (text === null) return undefined;
    try {
      const { iv, data } = JSON.parse(text) as Entry;
      const algorithm = { name: 'AES-GCM', iv: fromBase64(iv) };
      const bytes = await crypto.subtle.decrypt(algorithm, this.#key, fromBase64(data));
      return JSON.parse(new TextDecoder().decode(bytes));
    } catch {
      localStorage.removeItem(this.#prefix + id);
      return undefined;
    }
  }

  /**
   * @param isStillNeeded called after encryption: whether to store it
   * @returns whether it is stored: false if it is too large, or there is no room
   */
  async write(id: string, value: unknown, isStillNeeded: () => boolean): Promise<boolean> {
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, this.#key, bytes);
    const entry: Entry = { at: Date.now(), iv: toBase64(iv), data: toBase64(new Uint8Array(data)) };
    const text = JSON.stringify(entry);
    if (!isStillNeeded()) return true;
    if (text.length > MAX_ENTRY_CHARS || !this.#makeRoom(id, text.length)) {
      // The stored value is older than the page's.
      localStorage.removeItem(this.#prefix + id);
      return false;
    }
    try {
      localStorage.setItem(this.#prefix + id, text);
      return true;
    } catch {
      return false;
    }
  }

  remove(id: string): void {
    localStorage.removeItem(this.#prefix + id);
  }

  /** Makes room by deleting the oldest drafts of other users in this browser, never those of the current one. */
  #makeRoom(id: string, chars: number): boolean {
    const entries = entriesOf().filter(({ name }) => name !== this.#prefix + id);
    let total = entries.reduce((sum, each) => sum + each.chars, chars);
    const ofOthers = entries.filter(({ name }) => this.idOf(name) === undefined).sort((a, b) => a.at - b.at);
    for (const { name, chars: freed } of ofOthers) {
      if (total <= MAX_TOTAL_CHARS) break;
      localStorage.removeItem(name);
      total -= freed;
    }
    return total <= MAX_TOTAL_CHARS;
  }
}
