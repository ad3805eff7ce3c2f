import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { type GivenColumns, MAX_PAGE_BYTES, type Page, selectPage } from '../../db/read-page.ts';
import { containing } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Example } from '../../domain/evaluations/example.ts';
import { CONTENT_KEY_PREFIX } from '../../domain/evaluations/example.ts';
import { JsonText, type WithTexts } from '../../domain/text/json-text.ts';
import { afterOthers } from '../../lib/event-loop.ts';

/** A stored example. `id` is the one from the caller, if any. */
export interface StoredExample extends Example {
  seq: number;
  key: string;
}

/** A stored example, to be passed on unchanged. */
export type ShownExample = WithTexts<StoredExample, 'variables' | 'expected' | 'metadata'> & {
  variables: JsonText;
  expected?: JsonText;
  metadata?: JsonText;
};

const MAX_PAGE_EXAMPLES = 1000;

/** A page of a search examines at most this many examples, of about {@link MAX_PAGE_BYTES} in total, so that rare texts do not take longer. */
export const EXAMINED_EXAMPLES = 5_000;

const isFrom = (db: Builder, examplesId: string, from: number) =>
  db.selectFrom('dataset_examples').where('dataset_version_id', '=', examplesId).where('seq', '>=', from);

/** Whether a value at any depth of an example, or its id, contains this text, ignoring case. */
function contains(text: string) {
  const pattern = containing(text);
  const values = sql`jsonb_build_array(variables, expected, metadata)`;
  return sql<SqlBool>`((example_key ilike ${pattern} and not starts_with(example_key, ${CONTENT_KEY_PREFIX})) or exists (
    select from jsonb_path_query(${values}, 'strict $.** ? (@.type() == "string" || @.type() == "number")') as value
    where value #>> '{}' ilike ${pattern}))`;
}

/** A row of a page. JSON is returned as text; null if there is none. */
interface ExampleRow {
  seq: number;
  key: string;
  variables: string;
  expected: string | null;
  metadata: string | null;
}
const GIVEN: GivenColumns<ExampleRow> = {
  columns: ['seq', 'key', 'variables', 'expected', 'metadata'],
  texts: new Set(['variables', 'expected', 'metadata']),
};

async function pageOfExamples(
  query: Query,
  select: (db: Builder) => ReturnType<typeof isFrom>,
  limit: number,
): Promise<Page<ShownExample>> {
  const { rows, more } = await selectPage(
    query,
    {
      select: (db) => select(db).select(['seq', 'example_key as key', 'variables', 'expected', 'metadata', 'bytes']),
      orderBy: [['seq', 'asc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    limit,
    GIVEN,
  );
  return {
    more,
    rows: rows.map(({ seq, key, variables, expected, metadata }) => ({
      seq,
      key,
      ...(key.startsWith(CONTENT_KEY_PREFIX) ? {} : { id: key }),
      variables: new JsonText(variables),
      ...(expected === null ? {} : { expected: new JsonText(expected) }),
      ...(metadata === null ? {} : { metadata: new JsonText(metadata) }),
    })),
  };
}

/** Examples in order, starting at `seq`: at most `limit`, fewer if they are large, and none only after the last. */
export async function readExamples(
  query: Query,
  examplesId: string,
  from: number,
  limit: number,
): Promise<ShownExample[]> {
  return (await pageOfExamples(query, (db) => isFrom(db, examplesId, from), limit)).rows;
}

/**
 * Examples that contain a text, in order, starting at `seq`: at most `limit`, from the next {@link EXAMINED_EXAMPLES}.
 * @returns `next`: the `seq` to continue from, which may be after the last
 */
export async function searchExamples(
  query: Query,
  examplesId: string,
  text: string,
  from: number,
  limit: number,
): Promise<{ examples: ShownExample[]; next: number }> {
  const [examined] = await query((db) =>
    db
      .selectFrom(
        isFrom(db, examplesId, from)
          .select(['seq', sql<number>`sum(bytes) over (order by seq) - bytes`.as('bytes_before')])
          .where('seq', '<', from + EXAMINED_EXAMPLES)
          .as('nearest'),
      )
      .select(sql<number>`coalesce(max(seq), ${from})`.as('last'))
      .where('bytes_before', '<', MAX_PAGE_BYTES),
  );
  const last = examined?.last ?? from;
  const { rows, more } = await pageOfExamples(
    query,
    (db) => isFrom(db, examplesId, from).where('seq', '<=', last).where(contains(text)),
    limit,
  );
  return { examples: rows, next: (more ? (rows.at(-1)?.seq ?? last) : last) + 1 };
}

/** The examples were deleted while they were read. */
export class ExamplesGoneError extends Error {}

/**
 * All examples of a set, page by page: uses little memory and holds no connection while the reader is busy.
 * @throws ExamplesGoneError if fewer than `total` exist
 */
export async function* readAllExamples(
  query: Query,
  examplesId: string,
  total: number,
): AsyncGenerator<StoredExample[], void, undefined> {
  for (let seq = 0; seq < total; ) {
    const examples = await readExamples(query, examplesId, seq, MAX_PAGE_EXAMPLES);
    if (examples.length === 0) throw new ExamplesGoneError('The examples were deleted while they were read.');
    seq += examples.length;
    const parsed: StoredExample[] = [];
    for (const example of examples) {
      parsed.push(parse(example));
      await afterOthers(example.variables.text.length + (example.expected?.text.length ?? 0));
    }
    yield parsed;
  }
}

function parse({ variables, expected, metadata, ...example }: ShownExample): StoredExample {
  return {
    ...example,
    variables: JSON.parse(variables.text),
    ...(expected && { expected: JSON.parse(expected.text) }),
    ...(metadata && { metadata: JSON.parse(metadata.text) }),
  };
}
