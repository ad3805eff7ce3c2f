import type { ApiPromise, WithResponse } from './call.ts';

/** A page of a list. */
export interface Page<Item> {
  data: Item[];
  /** The cursor of the next page; null on the last one. */
  next_cursor: string | null;
}

/**
 * A list of the service, requested page by page while it is read: `for await (const prompt of pms.prompts.list())`. It can be
 * read repeatedly, and is requested again each time.
 */
export class List<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => ApiPromise<Page<Item>>;
  readonly #first: string | undefined;

  /**
   * @param read reads the page at a cursor; the first one if undefined
   * @param first cursor to start from
   */
  constructor(read: (cursor: string | undefined) => ApiPromise<Page<Item>>, first?: string) {
    this.#read = read;
    this.#first = first;
  }

  /** Its entries. @throws PmsError */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }

  /** The same, page by page. Only a null `next_cursor` means the end: any page may be empty. @throws PmsError */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let cursor = this.#first; ; ) {
      const page = await this.#read(cursor);
      yield page;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** The first page, with its response. @throws PmsError */
  withResponse(): Promise<WithResponse<Page<Item>>> {
    return this.#read(this.#first).withResponse();
  }
}
