import { executionStates } from '../domain/execution-states.ts';

// raw SQL: a part of the body of triggers.
const NOTE = 'insert into queue_candidates (workspace_id, execution_id)';

/** Whether any queue of the row's workspace has a filter. */
const isFilled = (row: string, filter: 'filter' | 'trace_filter' = 'filter') =>
  `exists (select from queues where queues.workspace_id = ${row}.workspace_id and queues.${filter} is not null)`;

/** An ended execution, to be processed by `jobs/fill-queues.ts`. Runs made elsewhere have already ended when they are stored. */
export const executionQueueTriggers = (['insert', 'update'] as const).map((event) => ({
  name: `queues_of_${event}`,
  timing: 'after' as const,
  events: [event],
  // raw SQL: the body of a trigger. As one expression: PostgreSQL returns conditions in another form, and a comparison of the
  // schemas would find a difference. For each row: most changes end nothing, and must not cost a call of the trigger.
  expression: `create or replace function "executions_queues_of_${event}_fn"() returns trigger language plpgsql as $$ begin
      if ${isFilled('new')} then ${NOTE} values (new.workspace_id, new.id); end if; return null; end $$;
create trigger "queues_of_${event}" after ${event} on "executions" for each row when (${executionStates.in(executionStates.final, 'new')}${event === 'insert' ? '' : ' and old.status is distinct from new.status'})
      execute function "executions_queues_of_${event}_fn"()`,
}));

/** A score may be what a filter requires. */
export const scoreQueueTriggers = (['insert', 'update'] as const).map((event) => ({
  name: `queues_of_${event}`,
  timing: 'after' as const,
  events: [event],
  // raw SQL: see above.
  expression: `create or replace function "scores_queues_of_${event}_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id, trace_id) select distinct made.workspace_id, made.execution_id, made.trace_id from made
      where (made.execution_id is not null and ${isFilled('made')}) or (made.trace_id is not null and ${isFilled('made', 'trace_filter')}); return null; end $$;
create trigger "queues_of_${event}" after ${event} on "scores" referencing new table as made for each statement execute function "scores_queues_of_${event}_fn"()`,
}));

/** A deleted evaluation leaves its workspace immediately, and its rows are deleted later: its items are also removed immediately. */
export const evaluationQueueTriggers = [
  {
    name: 'queues_of_update',
    timing: 'after' as const,
    events: ['update' as const],
    // raw SQL: see above.
    expression: `create or replace function "evaluations_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      delete from queue_items where evaluation_id = new.id or other_evaluation_id = new.id; return null; end $$;
create trigger "queues_of_update" after update on "evaluations" for each row when (old.workspace_id is distinct from new.workspace_id)
      execute function "evaluations_queues_of_update_fn"()`,
  },
];
