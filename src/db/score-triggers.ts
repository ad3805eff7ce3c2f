/**
 * Deletes what belongs to deleted rows, including what is stored during the deletion: storing it locks its subject, and a statement
 * in a trigger sees everything committed before it.
 */
const goesWith = (table: string, column: string, belonging: string) => ({
  name: `${belonging}_of_delete`,
  timing: 'after' as const,
  events: ['delete' as const],
  // raw SQL: the body of a trigger, in one expression because PostgreSQL returns conditions in another form, and a comparison of
  // the schemas would find a difference.
  expression: `create or replace function "${table}_${belonging}_of_delete_fn"() returns trigger language plpgsql as $$ begin
      delete from ${belonging} using gone where ${belonging}.workspace_id = gone.workspace_id and ${belonging}.${column} = gone.id; return null; end $$;
create trigger "${belonging}_of_delete" after delete on "${table}" referencing old table as gone for each statement execute function "${table}_${belonging}_of_delete_fn"()`,
});

export const executionScoreTriggers = [goesWith('executions', 'execution_id', 'scores')];
export const traceScoreTriggers = ['scores', 'trace_judgements', 'queue_items'].map((table) =>
  goesWith('traces', 'trace_id', table),
);
