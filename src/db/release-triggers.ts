/** Whether an execution's end counts for a release. */
const COUNTS = `new.release_stage is not null and new.status in ('completed', 'failed')`;

/** @param isNews whether the row has just ended */
function trigger(event: 'insert' | 'update', isNews: string) {
  const name = `release_of_${event}`;
  return {
    name,
    timing: 'after' as const,
    events: [event],
    // As one expression: PostgreSQL returns conditions in another form, and a comparison of the schemas would find a difference.
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
 * Records the contribution of an ended execution to the numbers of its release: `jobs/sum-up-releases.ts` adds it to the sums. A
 * recorded execution has already ended when it is inserted.
 */
export const executionReleaseTriggers = [
  trigger('insert', COUNTS),
  trigger('update', `${COUNTS} and old.status is distinct from new.status`),
];

/** Columns of an entry, as SQL, from rows of scores that count: `sign` -1 subtracts them. */
// raw SQL: a part of the body of a trigger.
const scoreEntries = (rows: string, sign: 1 | -1) =>
  `select workspace_id, release_id, release_stage as stage, arm, subject_at, case when trace_id is null then name else 'trace:' || name end as name, ${sign} as n, ${sign} * number as total, ${sign} * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from ${rows} where release_stage is not null and number is not null`;

const scoreTrigger = (event: 'insert' | 'update', referencing: string, entries: string) => ({
  name: `release_of_${event}`,
  timing: 'after' as const,
  events: [event],
  // raw SQL: the body of a trigger, as one expression: see above.
  expression: `create or replace function "scores_release_of_${event}_fn"() returns trigger language plpgsql as $$ begin
      insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
      select workspace_id, release_id, stage, arm, subject_at, name, sum(n), sum(total), sum(squares) from (${entries}) as entry
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 or sum(total) <> 0 or sum(squares) <> 0; return null; end $$;
create trigger "release_of_${event}" after ${event} on "scores" referencing ${referencing} for each statement execute function "scores_release_of_${event}_fn"()`,
});

/**
 * Records the contribution of stored or replaced scores to the numbers of their release. Scores deleted with their execution
 * leave the numbers unchanged; code that deletes a single score subtracts it.
 */
export const scoreReleaseTriggers = [
  scoreTrigger('insert', 'new table as made', scoreEntries('made', 1)),
  scoreTrigger(
    'update',
    'old table as gone new table as made',
    `${scoreEntries('made', 1)} union all ${scoreEntries('gone', -1)}`,
  ),
];
