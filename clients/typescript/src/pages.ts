interface PageOf<Item> {
  data: readonly Item[];
  next_cursor: string | null;
}

/**
 * All entries of a list, a page at a time.
 * @param read reads the page behind a cursor; the first one where it is undefined
 */
export async function* eachItem<Item>(
  read: (cursor: string | undefined) => Promise<PageOf<Item>>,
  first?: string,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor = first; ; ) {
    const { data, next_cursor: next } = await read(cursor);
    yield* data;
    if (next === null) return;
    cursor = next;
  }
}
