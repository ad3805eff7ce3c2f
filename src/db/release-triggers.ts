/** Whether an execution's end counts for a release. */
const COUNTS = `new.release_stage is not null and new.status in ('completed', 'failed')`;

/** An execution that ends writes what it adds to the numbers of its release: `jobs/sum-up-releases.ts` adds it to the sums. */
export const executionReleaseTriggers = [
  {
    name: 'release_of_update',
    timing: 'after' as const,
    events: ['update' as const],
    // As one expression: PostgreSQL shows conditions in another form, and a comparison of the schemas would find a difference.
    expression: `create or replace function "executions_release_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into release_entries (workspace_id, release_id, stage, arm, created_at, failed, fell_back, reused, latency_ms, cost, tokens)
      values (new.workspace_id, new.release_id, new.release_stage, new.release_arm, new.created_at, new.status = 'failed',
        new.model is distinct from coalesce(new.requested_model, new.model), new.reused_from is not null,
        case when new.status = 'completed' and new.reused_from is null then extract(epoch from new.finished_at - new.created_at) * 1000 end,
        case when new.reused_from is null then new.cost_amount end, new.tokens_input + new.tokens_output);
      return null; end $$;
create trigger "release_of_update" after update on "executions" for each row when (${COUNTS} and old.status is distinct from new.status)
      execute function "executions_release_of_update_fn"()`,
  },
];
