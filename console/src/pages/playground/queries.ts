import { queryOptions } from '@tanstack/react-query';
import { get, type Page, pathOf } from '../../api.ts';
import type { Dataset, Prompt } from '../../api-types.ts';
import { promptQuery } from '../../queries.ts';
import type { Row } from './pane-state.ts';
import { newRow } from './pane-state.ts';

/** An example of a dataset. */
export interface Example {
  seq: number;
  key: string;
  variables: Record<string, unknown>;
  /** Absent if there is none. */
  expected?: unknown;
}

const PAGE = 200;
/** Maximum pages to read until all wanted examples are found. */
const MOST_PAGES = 10;

/** @param version a number, a label, or empty for the latest */
export const paneVersionQuery = (name: string, version: string) =>
  version === '' || /^\d+$/.test(version)
    ? promptQuery(name, version === '' ? undefined : Number(version))
    : queryOptions({
        queryKey: ['prompts', 'one', name, 'label', version],
        queryFn: ({ signal }) => get<Prompt>(pathOf('prompts', name), { label: version }, signal),
      });

/** The first examples of a dataset that contain a text. @param q empty for all */
export const examplesQuery = (dataset: string, q: string) =>
  queryOptions({
    queryKey: ['datasets', 'examples', dataset, 'first', q],
    async queryFn({ signal }) {
      const [{ version }, { data }] = await Promise.all([
        get<Dataset>(pathOf('datasets', dataset), undefined, signal),
        get<Page<Example>>(`${pathOf('datasets', dataset)}/examples`, { limit: PAGE, q }, signal),
      ]);
      return { version, examples: data };
    },
  });

/** Rows from the examples at these positions. */
export const rowsQuery = (dataset: string, version: number | undefined, seqs: readonly number[]) =>
  queryOptions({
    queryKey: ['datasets', 'examples', dataset, version ?? 'latest', seqs],
    async queryFn({ signal }): Promise<Row[]> {
      const wanted = new Set(seqs);
      const found: Example[] = [];
      const of = version ?? (await get<Dataset>(pathOf('datasets', dataset), undefined, signal)).version;
      let cursor: string | null = '';
      for (let page = 0; page < MOST_PAGES && cursor !== null && found.length < wanted.size; page++) {
        const read: Page<Example> = await get(
          `${pathOf('datasets', dataset)}/examples`,
          { limit: PAGE, version: of, cursor },
          signal,
        );
        found.push(...read.data.filter(({ seq }) => wanted.has(seq)));
        cursor = read.next_cursor;
      }
      return found.map((example) => rowOf(dataset, of, example));
    },
  });

export const rowOf = (dataset: string, version: number, { seq, variables, expected }: Example): Row =>
  newRow({ variables, expected, example: { dataset, version, seq } });
