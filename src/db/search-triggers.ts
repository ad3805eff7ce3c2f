import { executionStates } from '../domain/execution-states.ts';
import type { Query } from './query.ts';

/** Writers wait this long at most while a trigger is created or dropped. */
const LOCK_TIMEOUT = '500ms';

const notes = (
  table: string,
  isTrace: boolean,
) => `create or replace function ${table}_search_note_fn() returns trigger language plpgsql as $$ begin
    insert into search_candidates (workspace_id, subject_id, is_trace) values (new.workspace_id, new.id, ${isTrace}); return null; end $$`;
const forgets = (
  table: string,
) => `create or replace function ${table}_search_forget_fn() returns trigger language plpgsql as $$ begin
    delete from search_words using gone where search_words.workspace_id = gone.workspace_id and search_words.subject_id = gone.id; return null; end $$`;

const hasEnded = executionStates.in(executionStates.final, 'new');

/** Only installations with an index have these triggers, so no entity declares them. */
const TRIGGERS = {
  executions: {
    search_of_insert: `after insert on executions for each row when (${hasEnded}) execute function executions_search_note_fn()`,
    search_of_update: `after update on executions for each row when (${hasEnded} and old.status is distinct from new.status) execute function executions_search_note_fn()`,
    search_of_delete:
      'after delete on executions referencing old table as gone for each statement execute function executions_search_forget_fn()',
  },
  traces: {
    search_of_update:
      'after update on traces for each row when (old.settled_as is distinct from new.settled_as) execute function traces_search_note_fn()',
    search_of_delete:
      'after delete on traces referencing old table as gone for each statement execute function traces_search_forget_fn()',
  },
};
const TABLES = Object.entries(TRIGGERS).flatMap(([table, triggers]) =>
  Object.entries(triggers).map(([name, definition]) => ({ table, name, definition })),
);

/** In a transaction: from its end on, every execution that ends and every trace that settles is a candidate. */
export async function createSearchTriggers(query: Query): Promise<void> {
  await query({ text: `set local lock_timeout = '${LOCK_TIMEOUT}'` });
  for (const [table, isTrace] of [['executions', false] as const, ['traces', true] as const]) {
    await query({ text: notes(table, isTrace) });
    await query({ text: forgets(table) });
  }
  for (const { name, definition } of TABLES) await query({ text: `create or replace trigger ${name} ${definition}` });
}

/** In a transaction; also empties the index. */
export async function dropSearchTriggers(query: Query): Promise<void> {
  await query({ text: `set local lock_timeout = '${LOCK_TIMEOUT}'` });
  for (const { table, name } of TABLES) await query({ text: `drop trigger if exists ${name} on ${table}` });
  for (const table of Object.keys(TRIGGERS))
    for (const work of ['note', 'forget'])
      await query({ text: `drop function if exists ${table}_search_${work}_fn()` });
  await query({ text: 'truncate search_words, search_candidates' });
}
