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

/** Columns of an entry, as SQL, of rows of scores that count: `sign` -1 takes them away again. */
// raw SQL: a part of the body of a trigger.
const scoreEntries = (rows: string, sign: 1 | -1) =>
  `select workspace_id, release_id, release_stage as stage, arm, subject_at, name, ${sign} as n, ${sign} * number as total, ${sign} * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from ${rows} where release_stage is not null and number is not null`;

const scoreTrigger = (event: 'insert' | 'update', referencing: string, entries: string) => ({
  name: `release_of_${event}`,
  timing: 'after' as const,
  events: [event],
  // raw SQL: the body of a trigger, and as one expression, as above.
  expression: `create or replace function "scores_release_of_${event}_fn"() returns trigger language plpgsql as $$ begin
      insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
      select workspace_id, release_id, stage, arm, subject_at, name, sum(n), sum(total), sum(squares) from (${entries}) as entry
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 or sum(total) <> 0 or sum(squares) <> 0; return null; end $$;
create trigger "release_of_${event}" after ${event} on "scores" referencing ${referencing} for each statement execute function "scores_release_of_${event}_fn"()`,
});

/**
 * Scores that are stored or replaced write what they add to the numbers of their release. Those that go with their execution leave the numbers
 * as they are; one that is deleted by itself is taken away by whoever deletes it.
 */
export const scoreReleaseTriggers = [
  scoreTrigger('insert', 'new table as made', scoreEntries('made', 1)),
  scoreTrigger(
    'update',
    'old table as gone new table as made',
    `${scoreEntries('made', 1)} union all ${scoreEntries('gone', -1)}`,
  ),
];
