/** Whether an execution's end counts for a release. */
const COUNTS = `new.release_stage is not null and new.status in ('completed', 'failed')`;

/** @param isNews whether the row has ended just now */
function trigger(event: 'insert' | 'update', isNews: string) {
  const name = `release_of_${event}`;
  return {
    name,
    timing: 'after' as const,
    events: [event],
    // As one expression: PostgreSQL shows conditions in another form, and a comparison of the schemas would find a difference.
    expression: `create or replace function "executions_${name}_fn"() returns trigger language plpgsql as $$ begin
      insert into release_entries (workspace_id, release_id, stage, arm, created_at, failed, fell_back, reused, latency_ms, cost, tokens)
      values (new.workspace_id, new.release_id, new.release_stage, new.release_arm, new.created_at, new.status = 'failed',
        new.model is distinct from coalesce(new.requested_model, new.model), new.reused_from is not null,
        case when new.status = 'completed' and new.reused_from is null then extract(epoch from new.finished_at - new.created_at) * 1000 end,
        case when new.reused_from is null then new.cost_amount end, new.tokens_input + new.tokens_output);
      return null; end $$;
create trigger "${name}" after ${event} on "executions" for each row when (${isNews})
      execute function "executions_${name}_fn"()`,
  };
}

/**
 * An execution that ends writes what it adds to the numbers of its release: `jobs/sum-up-releases.ts` adds it to the sums. One that was
 * recorded has ended when it is inserted.
 */
export const executionReleaseTriggers = [
  trigger('insert', COUNTS),
  trigger('update', `${COUNTS} and old.status is distinct from new.status`),
];
