import { Migration } from '@mikro-orm/migrations';

export class Migration20261121214839_usage_sums_and_indexes extends Migration {
  override name = 'Migration20261121214839_usage_sums_and_indexes';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "usage_entries" ("id" bigserial primary key, "workspace_id" uuid not null, "kind" text not null, "prompt_name" text not null, "model" text not null, "calls" bigint not null, "completed" bigint not null, "failed" bigint not null, "tokens_input" bigint not null, "tokens_output" bigint not null, "tokens_cached_input" bigint not null, "tokens_reasoning" bigint not null, "cost_amount" numeric not null, "priced" bigint not null, "unpriced" bigint not null, "created_at" timestamptz(3) not null, "summed" boolean not null default false);`,
    );
    this.addSql(
      `create index "usage_entries_workspace_id_created_at_index" on "usage_entries" ("workspace_id", "created_at");`,
    );
    this.addSql(`create index "usage_entries_unsummed_index" on "usage_entries" ("workspace_id") where not "summed";`);
    this.addSql(`create index "usage_entries_summed_index" on "usage_entries" ("created_at") where "summed";`);

    this.addSql(
      `create table "usage_sums" ("workspace_id" uuid not null, "unit" text not null, "starts_at" timestamptz(3) not null, "kind" text not null, "prompt_name" text not null, "model" text not null, "calls" bigint not null, "completed" bigint not null, "failed" bigint not null, "tokens_input" bigint not null, "tokens_output" bigint not null, "tokens_cached_input" bigint not null, "tokens_reasoning" bigint not null, "cost_amount" numeric not null, "priced" bigint not null, "unpriced" bigint not null, primary key ("workspace_id", "unit", "starts_at", "kind", "prompt_name", "model"));`,
    );

    this.addSql(
      `create index "deliveries_workspace_id_webhook_id_status_id_index" on "deliveries" ("workspace_id", "webhook_id", "status", "id");`,
    );

    this.addSql(
      `create index "evaluations_workspace_id_status_id_index" on "evaluations" ("workspace_id", "status", "id");`,
    );
    this.addSql(
      `create index "evaluations_workspace_id_dataset_name_id_index" on "evaluations" ("workspace_id", "dataset_name", "id");`,
    );
    this.addSql(
      `create index "evaluations_workspace_id_schedule_id_id_index" on "evaluations" ("workspace_id", "schedule_id", "id");`,
    );

    this.addSql(`create or replace function "evaluation_judgements_usage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced)
      select owner.*, new.created_at, (true)::int, 0, 0, case when true then coalesce(new.tokens_input, 0) else 0 end, case when true then coalesce(new.tokens_output, 0) else 0 end, case when true then coalesce(new.tokens_cached_input, 0) else 0 end, case when true then coalesce(new.tokens_reasoning, 0) else 0 end, case when true then coalesce(new.cost_amount, 0) else 0 end, (true and new.cost_amount is not null)::int, (true and new.cost_amount is null and true)::int from (select e.workspace_id, 'judgement', e.prompt_name, config->>'model' from evaluations e
          join lateral jsonb_array_elements(e.evaluators) as config on config->>'name' = new.evaluator
          where e.id = new.evaluation_id) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_insert" after insert on "evaluation_judgements" for each row when (true)
      execute function "evaluation_judgements_usage_of_insert_fn"();`);
    this.addSql(`create or replace function "evaluation_judgements_usage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced)
      select owner.*, new.created_at, ((true)::int) - ((true)::int), (0) - (0), (0) - (0), (case when true then coalesce(new.tokens_input, 0) else 0 end) - (case when true then coalesce(old.tokens_input, 0) else 0 end), (case when true then coalesce(new.tokens_output, 0) else 0 end) - (case when true then coalesce(old.tokens_output, 0) else 0 end), (case when true then coalesce(new.tokens_cached_input, 0) else 0 end) - (case when true then coalesce(old.tokens_cached_input, 0) else 0 end), (case when true then coalesce(new.tokens_reasoning, 0) else 0 end) - (case when true then coalesce(old.tokens_reasoning, 0) else 0 end), (case when true then coalesce(new.cost_amount, 0) else 0 end) - (case when true then coalesce(old.cost_amount, 0) else 0 end), ((true and new.cost_amount is not null)::int) - ((true and old.cost_amount is not null)::int), ((true and new.cost_amount is null and true)::int) - ((true and old.cost_amount is null and true)::int) from (select e.workspace_id, 'judgement', e.prompt_name, config->>'model' from evaluations e
          join lateral jsonb_array_elements(e.evaluators) as config on config->>'name' = new.evaluator
          where e.id = new.evaluation_id) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_update" after update on "evaluation_judgements" for each row when (true and (old.tokens_input, old.tokens_output, old.tokens_cached_input, old.tokens_reasoning, old.cost_amount, true, true) is distinct from (new.tokens_input, new.tokens_output, new.tokens_cached_input, new.tokens_reasoning, new.cost_amount, true, true))
      execute function "evaluation_judgements_usage_of_update_fn"();`);

    this.addSql(
      `create index "evaluation_results_failed_index" on "evaluation_results" ("evaluation_id", "seq") where "status" = 'failed';`,
    );
    this.addSql(
      `create index "evaluation_results_regression_index" on "evaluation_results" ("evaluation_id", "seq") where "regression";`,
    );
    this.addSql(
      `create index "evaluation_results_improvement_index" on "evaluation_results" ("evaluation_id", "seq") where "improvement";`,
    );
    this.addSql(`create or replace function "evaluation_results_usage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced)
      select owner.*, new.created_at, (new.attempts > 0)::int, 0, 0, case when new.attempts > 0 then coalesce(new.tokens_input, 0) else 0 end, case when new.attempts > 0 then coalesce(new.tokens_output, 0) else 0 end, case when new.attempts > 0 then coalesce(new.tokens_cached_input, 0) else 0 end, case when new.attempts > 0 then coalesce(new.tokens_reasoning, 0) else 0 end, case when new.attempts > 0 then coalesce(new.cost_amount, 0) else 0 end, (new.attempts > 0 and new.cost_amount is not null)::int, (new.attempts > 0 and new.cost_amount is null and new.finish_reason is not null)::int from (select e.workspace_id, 'example', e.prompt_name, e.model from evaluations e where e.id = new.evaluation_id) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_insert" after insert on "evaluation_results" for each row when (new.attempts > 0)
      execute function "evaluation_results_usage_of_insert_fn"();`);
    this.addSql(`create or replace function "evaluation_results_usage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced)
      select owner.*, new.created_at, ((new.attempts > 0)::int) - ((old.attempts > 0)::int), (0) - (0), (0) - (0), (case when new.attempts > 0 then coalesce(new.tokens_input, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.tokens_input, 0) else 0 end), (case when new.attempts > 0 then coalesce(new.tokens_output, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.tokens_output, 0) else 0 end), (case when new.attempts > 0 then coalesce(new.tokens_cached_input, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.tokens_cached_input, 0) else 0 end), (case when new.attempts > 0 then coalesce(new.tokens_reasoning, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.tokens_reasoning, 0) else 0 end), (case when new.attempts > 0 then coalesce(new.cost_amount, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.cost_amount, 0) else 0 end), ((new.attempts > 0 and new.cost_amount is not null)::int) - ((old.attempts > 0 and old.cost_amount is not null)::int), ((new.attempts > 0 and new.cost_amount is null and new.finish_reason is not null)::int) - ((old.attempts > 0 and old.cost_amount is null and old.finish_reason is not null)::int) from (select e.workspace_id, 'example', e.prompt_name, e.model from evaluations e where e.id = new.evaluation_id) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_update" after update on "evaluation_results" for each row when (new.attempts > 0 and (old.tokens_input, old.tokens_output, old.tokens_cached_input, old.tokens_reasoning, old.cost_amount, old.attempts > 0, old.finish_reason is not null) is distinct from (new.tokens_input, new.tokens_output, new.tokens_cached_input, new.tokens_reasoning, new.cost_amount, new.attempts > 0, new.finish_reason is not null))
      execute function "evaluation_results_usage_of_update_fn"();`);

    this.addSql(`create index "events_workspace_id_type_id_index" on "events" ("workspace_id", "type", "id");`);

    this.addSql(
      `create index "executions_workspace_id_prompt_name_status_id_index" on "executions" ("workspace_id", "prompt_name", "status", "id");`,
    );
    this.addSql(
      `create index "executions_workspace_id_status_id_index" on "executions" ("workspace_id", "status", "id");`,
    );
    this.addSql(
      `create index "executions_workspace_id_model_id_index" on "executions" ("workspace_id", "model", "id");`,
    );
    this.addSql(`create or replace function "executions_usage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced)
      select owner.*, new.created_at, (new.status in ('completed', 'failed', 'canceled'))::int, (new.status in ('completed', 'failed', 'canceled') and new.status = 'completed')::int, (new.status in ('completed', 'failed', 'canceled') and new.status = 'failed')::int, case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.tokens_input, 0) else 0 end, case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.tokens_output, 0) else 0 end, case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.tokens_cached_input, 0) else 0 end, case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.tokens_reasoning, 0) else 0 end, case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.cost_amount, 0) else 0 end, (new.status in ('completed', 'failed', 'canceled') and new.cost_amount is not null)::int, (new.status in ('completed', 'failed', 'canceled') and new.cost_amount is null and new.answered_at is not null)::int from (select new.workspace_id, 'execution', new.prompt_name, new.model) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_insert" after insert on "executions" for each row when (new.status in ('completed', 'failed', 'canceled'))
      execute function "executions_usage_of_insert_fn"();`);
    this.addSql(`create or replace function "executions_usage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced)
      select owner.*, new.created_at, ((new.status in ('completed', 'failed', 'canceled'))::int) - ((old.status in ('completed', 'failed', 'canceled'))::int), ((new.status in ('completed', 'failed', 'canceled') and new.status = 'completed')::int) - ((old.status in ('completed', 'failed', 'canceled') and old.status = 'completed')::int), ((new.status in ('completed', 'failed', 'canceled') and new.status = 'failed')::int) - ((old.status in ('completed', 'failed', 'canceled') and old.status = 'failed')::int), (case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.tokens_input, 0) else 0 end) - (case when old.status in ('completed', 'failed', 'canceled') then coalesce(old.tokens_input, 0) else 0 end), (case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.tokens_output, 0) else 0 end) - (case when old.status in ('completed', 'failed', 'canceled') then coalesce(old.tokens_output, 0) else 0 end), (case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.tokens_cached_input, 0) else 0 end) - (case when old.status in ('completed', 'failed', 'canceled') then coalesce(old.tokens_cached_input, 0) else 0 end), (case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.tokens_reasoning, 0) else 0 end) - (case when old.status in ('completed', 'failed', 'canceled') then coalesce(old.tokens_reasoning, 0) else 0 end), (case when new.status in ('completed', 'failed', 'canceled') then coalesce(new.cost_amount, 0) else 0 end) - (case when old.status in ('completed', 'failed', 'canceled') then coalesce(old.cost_amount, 0) else 0 end), ((new.status in ('completed', 'failed', 'canceled') and new.cost_amount is not null)::int) - ((old.status in ('completed', 'failed', 'canceled') and old.cost_amount is not null)::int), ((new.status in ('completed', 'failed', 'canceled') and new.cost_amount is null and new.answered_at is not null)::int) - ((old.status in ('completed', 'failed', 'canceled') and old.cost_amount is null and old.answered_at is not null)::int) from (select new.workspace_id, 'execution', new.prompt_name, new.model) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_update" after update on "executions" for each row when (new.status in ('completed', 'failed', 'canceled') and (old.tokens_input, old.tokens_output, old.tokens_cached_input, old.tokens_reasoning, old.cost_amount, old.status in ('completed', 'failed', 'canceled'), old.status = 'completed', old.status = 'failed', old.answered_at is not null) is distinct from (new.tokens_input, new.tokens_output, new.tokens_cached_input, new.tokens_reasoning, new.cost_amount, new.status in ('completed', 'failed', 'canceled'), new.status = 'completed', new.status = 'failed', new.answered_at is not null))
      execute function "executions_usage_of_update_fn"();`);

    this.addSql(`create index "idempotency_keys_created_at_index" on "idempotency_keys" ("created_at");`);
    this.addSql(`create index "idempotency_keys_resource_id_index" on "idempotency_keys" ("resource_id");`);

    this.addSql(
      `alter table "usage_entries" add constraint "usage_entries_kind_check" check ("kind" in ('execution', 'example', 'judgement'));`,
    );

    this.addSql(`alter table "usage_sums" add constraint "usage_sums_unit_check" check ("unit" in ('hour', 'day'));`);
    this.addSql(
      `alter table "usage_sums" add constraint "usage_sums_kind_check" check ("kind" in ('execution', 'example', 'judgement'));`,
    );
    // Written by hand, from here: what was used before.
    this.addSql(`insert into "usage_sums" ("workspace_id", "unit", "starts_at", "kind", "prompt_name", "model", "calls", "completed", "failed",
      "tokens_input", "tokens_output", "tokens_cached_input", "tokens_reasoning", "cost_amount", "priced", "unpriced")
    select workspace_id, unit, date_trunc(unit, created_at, 'UTC'), kind, prompt_name, model, count(*), count(*) filter (where status = 'completed'),
      count(*) filter (where status = 'failed'), sum(tokens_input), sum(tokens_output), sum(tokens_cached_input), sum(tokens_reasoning),
      coalesce(sum(cost_amount), 0), count(cost_amount), count(*) filter (where answered and cost_amount is null)
    from (
      select workspace_id, created_at, 'execution' as kind, prompt_name, model, status, answered_at is not null as answered,
        tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount
      from executions where status in ('completed', 'failed', 'canceled')
      union all
      select e.workspace_id, r.created_at, 'example', e.prompt_name, e.model, null, r.finish_reason is not null,
        r.tokens_input, r.tokens_output, r.tokens_cached_input, r.tokens_reasoning, r.cost_amount
      from evaluations e join evaluation_results r on r.evaluation_id = e.id where r.attempts > 0
      union all
      select e.workspace_id, j.created_at, 'judgement', e.prompt_name, config->>'model', null, true,
        j.tokens_input, j.tokens_output, j.tokens_cached_input, j.tokens_reasoning, j.cost_amount
      from evaluations e join evaluation_judgements j on j.evaluation_id = e.id
        join lateral jsonb_array_elements(e.evaluators) as config on config->>'name' = j.evaluator
    ) as calls cross join (values ('hour'), ('day')) as units (unit)
    group by 1, 2, 3, 4, 5, 6;`);
    // Written by hand, until here.
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "usage_entries" cascade;`);
    this.addSql(`drop table if exists "usage_sums" cascade;`);

    this.addSql(`drop index "deliveries_workspace_id_webhook_id_status_id_index";`);

    this.addSql(`drop trigger if exists "usage_of_insert" on "evaluation_judgements";`);
    this.addSql(`drop function if exists "evaluation_judgements_usage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "usage_of_update" on "evaluation_judgements";`);
    this.addSql(`drop function if exists "evaluation_judgements_usage_of_update_fn"();`);

    this.addSql(`drop index "evaluation_results_failed_index";`);
    this.addSql(`drop index "evaluation_results_regression_index";`);
    this.addSql(`drop index "evaluation_results_improvement_index";`);
    this.addSql(`drop trigger if exists "usage_of_insert" on "evaluation_results";`);
    this.addSql(`drop function if exists "evaluation_results_usage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "usage_of_update" on "evaluation_results";`);
    this.addSql(`drop function if exists "evaluation_results_usage_of_update_fn"();`);

    this.addSql(`drop index "evaluations_workspace_id_status_id_index";`);
    this.addSql(`drop index "evaluations_workspace_id_dataset_name_id_index";`);
    this.addSql(`drop index "evaluations_workspace_id_schedule_id_id_index";`);

    this.addSql(`drop index "events_workspace_id_type_id_index";`);

    this.addSql(`drop index "executions_workspace_id_prompt_name_status_id_index";`);
    this.addSql(`drop index "executions_workspace_id_status_id_index";`);
    this.addSql(`drop index "executions_workspace_id_model_id_index";`);
    this.addSql(`drop trigger if exists "usage_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_usage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "usage_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_usage_of_update_fn"();`);

    this.addSql(`drop index "idempotency_keys_created_at_index";`);
    this.addSql(`drop index "idempotency_keys_resource_id_index";`);
  }
}
