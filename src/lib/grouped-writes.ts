export interface GroupedWritesOptions<Item> {
  /** Writes all items or none. */
  write: (items: readonly Item[]) => Promise<void>;
  /** Whether an error is caused by the content of an item, so that the rest of its group can be written without it. */
  isRefusal: (error: unknown) => boolean;
  /** The approximate size of an item; a group ends with the item that reaches `maxSize`. */
  sizeOf: (item: Item) => number;
  maxSize: number;
}

interface Waiting<Item> {
  item: Item;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Groups items that arrive at the same time into one write, without delaying any: an item is written immediately unless a write
 * is in progress; items that arrive during a write form the next one. If a group is rejected, its items are written one at a
 * time, so that only a bad one fails.
 */
export class GroupedWrites<Item> {
  readonly #options: GroupedWritesOptions<Item>;
  readonly #waiting: Waiting<Item>[] = [];
  #isWriting = false;

  constructor(options: GroupedWritesOptions<Item>) {
    this.#options = options;
  }

  /**
   * Resolves once the item is written.
   * @throws whatever `write` throws
   */
  write(item: Item): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#isWriting) void this.#writeWaiting();
    return promise;
  }

  async #writeWaiting(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) await this.#writeGroup(this.#takeGroup());
    this.#isWriting = false;
  }

  #takeGroup(): Waiting<Item>[] {
    const { sizeOf, maxSize } = this.#options;
    let size = 0;
    let count = 0;
    for (const { item } of this.#waiting) {
      if (size >= maxSize) break;
      size += sizeOf(item);
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #writeGroup(group: Waiting<Item>[]): Promise<void> {
    try {
      await this.#options.write(group.map(({ item }) => item));
    } catch (error) {
      if (group.length > 1 && this.#options.isRefusal(error)) {
        for (const waiting of group) await this.#writeGroup([waiting]);
        return;
      }
      for (const { reject } of group) reject(error);
      return;
    }
    for (const { resolve } of group) resolve();
  }
}
