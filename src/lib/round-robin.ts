/** A queue that is shared by groups: turns go round the groups, and within one whoever came first is the first. */
export class RoundRobin<T> {
  /** In the order of their next turn. None is empty. */
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

  /** The next one. */
  peek(): T | undefined {
    for (const [, items] of this.#groups) for (const item of items) return item;
    return undefined;
  }

  /** Takes the next one out. */
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

  /** Takes one out, whose turn has not come. */
  delete(group: string, item: T): void {
    const items = this.#groups.get(group);
    if (!items?.delete(item)) return;
    this.#size -= 1;
    if (items.size === 0) this.#groups.delete(group);
  }
}
