import { sql } from 'kysely';
import { bindWorkspace, type Query } from '../../db/database.ts';
import { anyOf, arraysOf, unnestOf } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { bucketAt, bucketOfId, keyOf, WordSet } from '../../domain/text/search-words.ts';
import { createPace } from '../../lib/event-loop.ts';
import { pagesOfSteps, type TraceDays } from '../traces/steps.ts';

/** The words of a larger execution are not stored: its text is read at each search. */
const MAX_EXECUTION_BYTES = 256 * 1024;
/** The same for a trace, with the executions in it. */
const MAX_TRACE_BYTES = 1024 * 1024;
/** Texts that are read in one statement. */
const READ_BYTES = 2 * 1024 * 1024;

interface Indexed {
  workspace: string;
  subject: string;
  words: string;
}

async function store(query: Query, rows: readonly Indexed[]): Promise<void> {
  if (rows.length === 0) return;
  const given = arraysOf(rows);
  await query((db) =>
    db
      .insertInto('search_words')
      .columns(['workspace_id', 'subject_id', 'words'])
      .expression(
        db
          .selectFrom(
            unnestOf('n', {
              workspace: ['uuid', given.workspace],
              subject: ['uuid', given.subject],
              words: ['text', given.words],
            }),
          )
          .select(['n.workspace', 'n.subject', sql<string>`${sql.ref('n.words')}::tsvector`.as('words')]),
      )
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'subject_id']).doUpdateSet((eb) => ({ words: eb.ref('excluded.words') })),
      ),
  );
}

/** Every text in a value. */
function addTexts(words: WordSet, value: unknown): void {
  if (typeof value === 'string') words.add(value);
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) addTexts(words, part);
}

/** The texts of messages, without names, types and files. */
function addMessages(words: WordSet, messages: readonly { content?: unknown }[] | null): void {
  for (const { content } of messages ?? []) {
    if (typeof content === 'string') words.add(content);
    else if (Array.isArray(content)) for (const part of content) words.add(textOf(part));
  }
}
const textOf = (part: unknown): string | null =>
  typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? part.text : null;

/** The ended ones among these executions, locked against deletion. */
const lockEnded = (query: Query, ids: readonly string[]) =>
  query((db) =>
    db
      .selectFrom('executions')
      .select(['workspace_id as workspaceId', 'id', 'bytes'])
      .where('id', '=', anyOf(ids))
      .where(inStates(executionStates, executionStates.final))
      .forKeyShare(),
  );

const readTexts = (query: Query, ids: readonly string[]) =>
  query((db) =>
    db
      .selectFrom('executions')
      .select(['workspace_id as workspaceId', 'id', 'input', 'input_messages', 'output', 'tool_calls', 'error'])
      .where('id', '=', anyOf(ids)),
  );

function addExecution(words: WordSet, row: Awaited<ReturnType<typeof readTexts>>[number]): void {
  words.add(row.input);
  addMessages(words, row.input_messages);
  words.add(row.output);
  addTexts(words, row.tool_calls);
  words.add(row.error?.message);
}

/** Executions in groups whose texts are read together. */
function* inGroups(rows: readonly { id: string; bytes: number }[]): Generator<string[]> {
  let group: string[] = [];
  let sum = 0;
  for (const { id, bytes } of rows) {
    if (sum + bytes > READ_BYTES && group.length > 0) {
      yield group;
      [group, sum] = [[], 0];
    }
    group.push(id);
    sum += bytes;
  }
  if (group.length > 0) yield group;
}

/** Indexes those that have ended. In a transaction. */
export async function indexExecutions(query: Query, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const pace = createPace();
  const rows = await lockEnded(query, ids);
  const toRow = (workspaceId: string, id: string, words: WordSet): Indexed => ({
    workspace: workspaceId,
    subject: id,
    words: words.vector(keyOf(workspaceId, 'execution', bucketOfId(id))),
  });
  const large = rows
    .filter(({ bytes }) => bytes > MAX_EXECUTION_BYTES)
    .map(({ workspaceId, id }) => toRow(workspaceId, id, new WordSet({ isWhole: false })));
  await store(query, large);
  for (const group of inGroups(rows.filter(({ bytes }) => bytes <= MAX_EXECUTION_BYTES))) {
    const indexed: Indexed[] = [];
    for (const row of await readTexts(query, group)) {
      const words = new WordSet();
      addExecution(words, row);
      indexed.push(toRow(row.workspaceId, row.id, words));
      await pace();
    }
    await store(query, indexed);
  }
}

/** Steps of a trace that are read at a time. */
const STEPS_AT_ONCE = 500;

/** Adds the texts of a trace's steps, and of the executions in it. @param query bound to its workspace */
async function addSteps(query: Query, words: WordSet, trace: TraceDays): Promise<void> {
  const pace = createPace();
  for await (const steps of pagesOfSteps(query, trace, ['span_id', 'name', 'error', 'content'], STEPS_AT_ONCE))
    for (const { name, error, content } of steps) {
      words.add(name);
      words.add(error);
      addTexts(words, content);
      await pace();
    }
  const runs = await query((db) =>
    db
      .selectFrom('executions')
      .select(['id', 'bytes'])
      .where('trace_id', '=', trace.id)
      .limit(STEPS_AT_ONCE * 100),
  );
  if (runs.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_TRACE_BYTES) return words.giveUp();
  for (const group of inGroups(runs))
    for (const row of await readTexts(query, group)) {
      addExecution(words, row);
      await pace();
    }
}

/** Indexes settled traces, each with all of its steps. In a transaction. */
export async function indexTraces(query: Query, traces: readonly { workspaceId: string; id: string }[]): Promise<void> {
  for (const { workspaceId, id } of traces) {
    const own = bindWorkspace(query, workspaceId);
    const [row] = await own((db) =>
      db
        .selectFrom('traces')
        .select(['id', 'name', 'input', 'output', 'bytes', 'started_at', 'first_day', 'last_day'])
        .where('id', '=', id)
        .forKeyShare(),
    );
    if (row === undefined) continue;
    const words = new WordSet({ isWhole: row.bytes <= MAX_TRACE_BYTES });
    for (const text of [row.name, row.input, row.output]) words.add(text);
    if (row.bytes <= MAX_TRACE_BYTES) await addSteps(own, words, row);
    const key = keyOf(workspaceId, 'trace', bucketAt(row.started_at.getTime()));
    await store(query, [{ workspace: workspaceId, subject: id, words: words.vector(key) }]);
  }
}
