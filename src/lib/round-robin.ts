/** A queue whose groups take turns; within a group it is first in, first out. */
export class RoundRobin<T> {
  /** Ordered by next turn. None is empty. */
  readonly #groups = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(group: string, item: T): void {
    const items = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, items.add(item));
    this.#size += 1;
  }

  /** The next item. */
  peek(): T | undefined {
    for (const [, items] of this.#groups) for (const item of items) return item;
    return undefined;
  }

  /** Removes and returns the next item. */
  shift(): T | undefined {
    for (const [group, items] of this.#groups) {
      this.#groups.delete(group);
      for (const item of items) {
        items.delete(item);
        this.#size -= 1;
        if (items.size > 0) this.#groups.set(group, items);
        return item;
      }
    }
    return undefined;
  }

  /** Removes an item before its turn. */
  delete(group: string, item: T): void {
    const items = this.#groups.get(group);
    if (!items?.delete(item)) return;
    this.#size -= 1;
    if (items.size === 0) this.#groups.delete(group);
  }
}
