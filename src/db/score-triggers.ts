/**
 * Deletes the scores of deleted rows, including scores stored during the deletion: storing one locks its subject, and a statement
 * in a trigger sees everything committed before it.
 */
const scoresGoWith = (table: string, column: string) => [
  {
    name: 'scores_of_delete',
    timing: 'after' as const,
    events: ['delete' as const],
    // raw SQL: the body of a trigger, in one expression because PostgreSQL returns conditions in another form, and a comparison of
    // the schemas would find a difference.
    expression: `create or replace function "${table}_scores_of_delete_fn"() returns trigger language plpgsql as $$ begin
      delete from scores using gone where scores.workspace_id = gone.workspace_id and scores.${column} = gone.id; return null; end $$;
create trigger "scores_of_delete" after delete on "${table}" referencing old table as gone for each statement execute function "${table}_scores_of_delete_fn"()`,
  },
];

export const executionScoreTriggers = scoresGoWith('executions', 'execution_id');
export const traceScoreTriggers = scoresGoWith('traces', 'trace_id');
