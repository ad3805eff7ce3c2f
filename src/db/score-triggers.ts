/**
 * Deletes the scores of a deleted execution, including scores stored during the deletion: storing one locks the execution, and a
 * statement of a trigger sees what has been committed since.
 */
export const executionScoreTriggers = [
  {
    name: 'scores_of_delete',
    timing: 'after' as const,
    events: ['delete' as const],
    // raw SQL: the body of a trigger. As one expression: PostgreSQL returns conditions in another form, and a comparison of the
    // schemas would find a difference.
    expression: `create or replace function "executions_scores_of_delete_fn"() returns trigger language plpgsql as $$ begin
      delete from scores using gone where scores.workspace_id = gone.workspace_id and scores.execution_id = gone.id; return null; end $$;
create trigger "scores_of_delete" after delete on "executions" referencing old table as gone for each statement execute function "executions_scores_of_delete_fn"()`,
  },
];
