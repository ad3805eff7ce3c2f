import { Migration } from '@mikro-orm/migrations';

/** Columns for runs of messages, includes and fallback models. `bytes` is recreated, which rewrites the table once. */
export class Migration20261122130000_evaluations extends Migration {
  override name = 'Migration20261122130000_evaluations';

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "evaluations" add "content" jsonb null, add "includes" jsonb not null default '{}', add "fallback_models" text[] not null default '{}';`,
    );
    this.addSql(
      `update "evaluations" set "content" = jsonb_build_object('template', "template", 'messages', null, 'tools', null, 'tool_choice', null, 'inputs', null);`,
    );
    this.addSql(`alter table "evaluations" alter column "content" set not null;`);
    this.addSql(`alter table "evaluations" drop column "template";`);

    this.addSql(`drop trigger if exists "usage_of_insert" on "evaluation_results";`);
    this.addSql(`drop function if exists "evaluation_results_usage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "usage_of_update" on "evaluation_results";`);
    this.addSql(`drop function if exists "evaluation_results_usage_of_update_fn"();`);
    this.addSql(`alter table "evaluation_results" drop column "bytes";`);
    this.addSql(
      `alter table "evaluation_results" add "tool_calls" jsonb null, add "model" text null, add "bytes" int generated always as (COALESCE(octet_length(example_key), 0) + COALESCE(octet_length((variables)::text), 0) + COALESCE(octet_length((expected)::text), 0) + COALESCE(octet_length(output), 0) + COALESCE(octet_length((tool_calls)::text), 0) + COALESCE(octet_length((scores)::text), 0) + COALESCE(octet_length((error)::text), 0)) stored not null;`,
    );
    this.addSql(`create or replace function "evaluation_results_usage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced)
      select owner.*, new.created_at, (new.attempts > 0)::int, 0, 0, case when new.attempts > 0 then coalesce(new.tokens_input, 0) else 0 end, case when new.attempts > 0 then coalesce(new.tokens_output, 0) else 0 end, case when new.attempts > 0 then coalesce(new.tokens_cached_input, 0) else 0 end, case when new.attempts > 0 then coalesce(new.tokens_reasoning, 0) else 0 end, case when new.attempts > 0 then coalesce(new.cost_amount, 0) else 0 end, (new.attempts > 0 and new.cost_amount is not null)::int, (new.attempts > 0 and new.cost_amount is null and new.finish_reason is not null)::int from (select e.workspace_id, 'example', e.prompt_name, coalesce(new.model, e.model) from evaluations e where e.id = new.evaluation_id) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_insert" after insert on "evaluation_results" for each row when (new.attempts > 0)
      execute function "evaluation_results_usage_of_insert_fn"();`);
    this.addSql(`create or replace function "evaluation_results_usage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced)
      select owner.*, new.created_at, ((new.attempts > 0)::int) - ((old.attempts > 0)::int), (0) - (0), (0) - (0), (case when new.attempts > 0 then coalesce(new.tokens_input, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.tokens_input, 0) else 0 end), (case when new.attempts > 0 then coalesce(new.tokens_output, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.tokens_output, 0) else 0 end), (case when new.attempts > 0 then coalesce(new.tokens_cached_input, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.tokens_cached_input, 0) else 0 end), (case when new.attempts > 0 then coalesce(new.tokens_reasoning, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.tokens_reasoning, 0) else 0 end), (case when new.attempts > 0 then coalesce(new.cost_amount, 0) else 0 end) - (case when old.attempts > 0 then coalesce(old.cost_amount, 0) else 0 end), ((new.attempts > 0 and new.cost_amount is not null)::int) - ((old.attempts > 0 and old.cost_amount is not null)::int), ((new.attempts > 0 and new.cost_amount is null and new.finish_reason is not null)::int) - ((old.attempts > 0 and old.cost_amount is null and old.finish_reason is not null)::int) from (select e.workspace_id, 'example', e.prompt_name, coalesce(new.model, e.model) from evaluations e where e.id = new.evaluation_id) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_update" after update on "evaluation_results" for each row when (new.attempts > 0 and (old.tokens_input, old.tokens_output, old.tokens_cached_input, old.tokens_reasoning, old.cost_amount, old.attempts > 0, old.finish_reason is not null) is distinct from (new.tokens_input, new.tokens_output, new.tokens_cached_input, new.tokens_reasoning, new.cost_amount, new.attempts > 0, new.finish_reason is not null))
      execute function "evaluation_results_usage_of_update_fn"();`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "usage_of_insert" on "evaluation_results";`);
    this.addSql(`drop function if exists "evaluation_results_usage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "usage_of_update" on "evaluation_results";`);
    this.addSql(`drop function if exists "evaluation_results_usage_of_update_fn"();`);
    this.addSql(`alter table "evaluation_results" drop column "tool_calls", drop column "model", drop column "bytes";`);
    this.addSql(
      `alter table "evaluation_results" add "bytes" int generated always as (COALESCE(octet_length(example_key), 0) + COALESCE(octet_length((variables)::text), 0) + COALESCE(octet_length((expected)::text), 0) + COALESCE(octet_length(output), 0) + COALESCE(octet_length((scores)::text), 0) + COALESCE(octet_length((error)::text), 0)) stored not null;`,
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

    this.addSql(`alter table "evaluations" add "template" text null;`);
    this.addSql(`update "evaluations" set "template" = coalesce("content"->>'template', '');`);
    this.addSql(`alter table "evaluations" alter column "template" set not null;`);
    this.addSql(
      `alter table "evaluations" drop column "content", drop column "includes", drop column "fallback_models";`,
    );
  }
}
