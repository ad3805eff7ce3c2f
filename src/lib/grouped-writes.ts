export interface GroupedWritesOptions<Item> {
  /** Writes items, all or none of them. */
  write: (items: readonly Item[]) => Promise<void>;
  /** Whether an error is due to what an item holds, so that the others of its group can be written without it. */
  isRefusal: (error: unknown) => boolean;
  /** About how large an item is; a group ends with the item that takes it to `maxSize`. */
  sizeOf: (item: Item) => number;
  maxSize: number;
}

interface Waiting<Item> {
  item: Item;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Writes what comes at the same time in groups, and delays nothing for it: an item is written at once unless a write is under
 * way, and what comes meanwhile makes up the next write. Of a group that is refused, each item is written by itself, so that a
 * bad one fails alone.
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
   * @throws what `write` has thrown
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
