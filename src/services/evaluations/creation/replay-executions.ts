import { expressionBuilder } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { selectPage } from '../../../db/read-page.ts';
import { anyOf } from '../../../db/sql.ts';
import type { Tables } from '../../../db/tables.ts';
import { ApiError, invalidField } from '../../../domain/errors.ts';
import type { Example } from '../../../domain/evaluations/example.ts';
import {
  CONVERSATION,
  createReplay,
  type Fault,
  type FromExecutions,
  LEFT_OUT_REASONS,
  NO_INPUT,
  NO_OUTPUT,
  openingOf,
  type RecordedCall,
} from '../../../domain/evaluations/replay.ts';
import { publicId, traceIdOf } from '../../../domain/ids.ts';
import { type ChatMessage, messagesOf, textOf } from '../../../domain/prompts/messages.ts';
import { type Prompt, parsePrompt } from '../../../domain/prompts/prompt.ts';
import type { IncludeSet, PromptContent } from '../../../domain/prompts/prompt-content.ts';
import type { JsonValue } from '../../../domain/text/json.ts';
import { createPace } from '../../../lib/event-loop.ts';
import { type ExecutionSearch, executionConditions } from '../../executions/filter.ts';
import { resolveIncludes } from '../../prompts/includes.ts';
import { getPrompt } from '../../prompts/prompts.ts';
import { contentOf } from '../../prompts/version.ts';

/** The maximum size of all executions of a run. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_IDS_SHOWN = 5;

const DELETED: Fault = { reason: 'deleted', message: 'it was deleted in the meantime' };
const TOO_LARGE: Fault = { reason: 'too_large', message: `the newer ones have ${MAX_BYTES >> 20} MiB together` };

/** Which executions an evaluation runs again. */
export interface ExecutionsToReplay {
  search: ExecutionSearch;
  /** UUIDs; all of them must match. */
  ids?: string[] | undefined;
  /** Uses the newest executions if more match. */
  limit: number;
  /** What an example expects: the output of the execution, or nothing. */
  expected: 'output' | 'none';
}

/** Executions as examples of two runs: of the version, and of the recorded outputs. Their ids are those of the executions. */
export interface Replayed {
  /** What the version sends. */
  examples: Example[];
  /** What was sent, in the same order. */
  recorded: Example[];
  /** The model that most of them ran on. */
  model: { name: string; provider: string };
  from: FromExecutions;
}

const COLUMNS = [
  'id',
  'prompt_name',
  'prompt_version',
  'model',
  'provider',
  'recorded',
  'variables',
  'input',
  'input_messages',
  'output',
  'tool_calls',
  'trace_id',
  'conversation_id',
  'created_at',
  'bytes',
] as const;

/** The newest that match. */
async function findIds(query: Query, { search, ids, limit }: ExecutionsToReplay): Promise<string[]> {
  const eb = expressionBuilder<Tables, 'executions'>();
  const rows = await query((db) =>
    db
      .selectFrom('executions')
      .select('id')
      .where(eb.and(executionConditions(eb, search)))
      .$if(ids !== undefined, (some) => some.where('id', '=', anyOf(ids ?? [])))
      .orderBy('id', 'desc')
      .limit(limit),
  );
  return rows.map(({ id }) => id);
}

function readPage(query: Query, ids: readonly string[]) {
  return selectPage(
    query,
    {
      select: (db) => db.selectFrom('executions').select(COLUMNS).where('id', '=', anyOf(ids)),
      orderBy: [['id', 'desc']],
      bytes: (eb) => eb.ref('bytes'),
    },
    ids.length,
  );
}

type Row = Awaited<ReturnType<typeof readPage>>['rows'][number];

const messagesIn = ({ input, input_messages: messages }: Row): ChatMessage[] =>
  messages ?? (input === null || input === '' ? [] : messagesOf(input));

/**
 * @returns a function that finds how many messages of an execution its prompt version wrote: undefined if the version is unknown, or writes
 * others. A version is read once.
 */
function createOpenings(query: Query) {
  const prompts = new Map<string, Promise<Prompt | undefined>>();

  async function read(name: string, version: number): Promise<Prompt | undefined> {
    try {
      const content = contentOf(await getPrompt(query, name, { version }));
      return parsePrompt(content, await resolveIncludes(query, content));
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }

  return async function find(row: Row, messages: readonly ChatMessage[]): Promise<number | undefined> {
    const { prompt_name: name, prompt_version: version, variables, recorded } = row;
    if (name === null || version === null) return undefined;
    const key = `${version} ${name}`;
    const prompt = prompts.get(key) ?? read(name, version);
    prompts.set(key, prompt);
    const known = await prompt;
    const written = known && openingOf(known, variables);
    // An application that recorded a run can have sent something else. Includes of our own can have changed since.
    const isSame = (own: ChatMessage, at: number) => {
      const sent = messages[at];
      return sent?.role === own.role && (!recorded || textOf(sent) === textOf(own));
    };
    return written?.every(isSame) ? written.length : undefined;
  };
}

const unlessNull = (entries: Record<string, JsonValue | null>): Record<string, JsonValue> =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== null));

function exampleOf(row: Row, messages: ChatMessage[], expected: ExecutionsToReplay['expected']): Example {
  const id = publicId('execution', row.id);
  return {
    id,
    // Messages are JSON.
    variables: { ...row.variables, [CONVERSATION]: messages as JsonValue },
    ...(expected === 'output' && { expected: row.output ?? '' }),
    metadata: unlessNull({
      execution_id: id,
      prompt_name: row.prompt_name,
      prompt_version: row.prompt_version,
      model: row.model,
      trace_id: row.trace_id && traceIdOf(row.trace_id),
      conversation_id: row.conversation_id,
      created_at: row.created_at.toISOString(),
    }),
  };
}

/** Counts the executions that are left out, by reason. */
class LeftOut {
  readonly #byReason = new Map<Fault['reason'], FromExecutions['left_out'][number]>();

  add({ reason, message }: Fault, ...ids: string[]): void {
    const group = this.#byReason.get(reason) ?? { reason, message, count: 0, execution_ids: [] };
    group.count += ids.length;
    const room = MAX_IDS_SHOWN - group.execution_ids.length;
    group.execution_ids.push(...ids.slice(0, room).map((id) => publicId('execution', id)));
    this.#byReason.set(reason, group);
  }

  get groups() {
    const groups = LEFT_OUT_REASONS.flatMap((reason) => this.#byReason.get(reason) ?? []);
    return groups.toSorted((a, b) => b.count - a.count);
  }
}

/** The most frequent one. */
function mostFrequent(rows: readonly Pick<Row, 'model' | 'provider'>[]): { name: string; provider: string } {
  const counts = new Map<string, { name: string; provider: string; count: number }>();
  for (const { model: name, provider } of rows) {
    const entry = counts.get(name) ?? { name, provider, count: 0 };
    entry.count += 1;
    counts.set(name, entry);
  }
  const [first] = [...counts.values()].toSorted((a, b) => b.count - a.count);
  if (first === undefined) throw new Error('There are no executions.');
  return { name: first.name, provider: first.provider };
}

/** @throws ApiError `invalid_request` naming ids that do not match */
function requireAll(ids: readonly string[], found: readonly string[], limit: number): void {
  const missing = ids.filter((id) => !found.includes(id));
  if (missing.length === 0 || found.length === limit) return;
  const shown = missing.slice(0, MAX_IDS_SHOWN).map((id) => publicId('execution', id));
  throw invalidField(
    'executions.execution_ids',
    `some do not exist or do not match the other fields, among them ${shown.join(', ')}`,
  );
}

/**
 * Reads executions as examples for a version of a prompt, oldest first. Their messages are copied; their outputs are when the
 * run of them begins (`copyOutputs`).
 * @throws ApiError `invalid_request` if no execution matches, not all named ones do, or none of them can be used
 */
export async function replayExecutions(
  query: Query,
  { content, includes }: { content: PromptContent; includes: IncludeSet },
  selection: ExecutionsToReplay,
): Promise<Replayed> {
  const ids = await findIds(query, selection);
  requireAll(selection.ids ?? [], ids, selection.limit);
  if (ids.length === 0)
    throw invalidField(
      'executions',
      `no execution with the status "${selection.search.status}" matches: widen the selection`,
    );
  const replay = createReplay(content, includes);
  const openingIn = createOpenings(query);
  const leftOut = new LeftOut();
  const pace = createPace();
  const used: { row: Row; sent: ChatMessage[]; messages: ChatMessage[] }[] = [];

  async function add(row: Row): Promise<void> {
    const messages = messagesIn(row);
    const call: RecordedCall = { variables: row.variables, messages, opening: await openingIn(row, messages) };
    if (messages.length === 0) leftOut.add(NO_INPUT, row.id);
    else if ((row.output ?? '') === '' && (row.tool_calls ?? []).length === 0) leftOut.add(NO_OUTPUT, row.id);
    else {
      const sent = replay(call);
      if (Array.isArray(sent)) used.push({ row, sent, messages });
      else leftOut.add(sent, row.id);
    }
    await pace();
  }

  let bytes = 0;
  let rest = ids;
  while (rest.length > 0) {
    const { rows } = await readPage(query, rest);
    for (const row of rows) {
      const newer = rest.slice(0, rest.indexOf(row.id));
      if (newer.length > 0) leftOut.add(DELETED, ...newer);
      rest = rest.slice(newer.length);
      bytes += row.bytes;
      if (bytes > MAX_BYTES) break;
      await add(row);
      rest = rest.slice(1);
    }
    if (rows.length > 0 && bytes <= MAX_BYTES) continue;
    if (rest.length > 0) leftOut.add(rows.length === 0 ? DELETED : TOO_LARGE, ...rest);
    break;
  }

  const from = { matched: ids.length, left_out: leftOut.groups };
  if (used.length === 0)
    throw invalidField(
      'executions',
      `none of the ${ids.length} that match can be used: ${from.left_out.map(({ count, message }) => `${count}: ${message}`).join('; ')}`,
    );
  used.reverse();
  const examplesWith = (messagesFor: (each: (typeof used)[number]) => ChatMessage[]) =>
    used.map((each) => exampleOf(each.row, messagesFor(each), selection.expected));
  return {
    examples: examplesWith(({ sent }) => sent),
    recorded: examplesWith(({ messages }) => messages),
    model: mostFrequent(used.map(({ row }) => row)),
    from,
  };
}
