import { Migration } from '@mikro-orm/migrations';

/**
 * Triggers stay; only their functions change, so that writers of `executions` and `traces` need not wait. An item of a trace has no
 * execution: the release before drops it.
 */
export class Migration20261127181458_traces_in_rules extends Migration {
  override name = 'Migration20261127181458_traces_in_rules';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `create table "trace_judgements" ("workspace_id" uuid not null, "trace_id" uuid not null, "rule" text not null, "evaluator" text not null, "version" text not null, "model" text not null, "answer" text null, "asks" bigint not null default '1', "tokens_input" bigint not null default '0', "tokens_output" bigint not null default '0', "tokens_cached_input" bigint not null default '0', "tokens_reasoning" bigint not null default '0', "tokens_unknown" bigint not null default '0', "cost_amount" numeric null, "assumed_cost" numeric null, "outcome_ids" uuid[] not null default '{}', "pricing" jsonb null, "created_at" timestamptz(3) not null, primary key ("workspace_id", "trace_id", "rule", "evaluator", "version"));`,
    );

    this.addSql(`create or replace function "executions_rules_of_insert_fn"() returns trigger language plpgsql as $$ begin
      if not exists (select from rules where workspace_id = new.workspace_id and enabled and trace_filter is null) then return null; end if;       insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled and r.trace_filter is null
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);
    this.addSql(`create or replace function "executions_rules_of_update_fn"() returns trigger language plpgsql as $$ begin
      if not exists (select from rules where workspace_id = new.workspace_id and enabled and trace_filter is null) then return null; end if;       insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled and r.trace_filter is null
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);

    this.addSql(`alter table "rules" add "trace_filter" jsonb null;`);

    this.addSql(`alter table "rule_items" add "trace_id" uuid null;`);
    this.addSql(
      `-- squawk-ignore ban-drop-not-null\nalter table "rule_items" alter column "execution_id" drop not null;`,
    );

    this.addSql(`alter table "traces" add "settled_as" text null;`);
    this.addSql(`create or replace function "traces_trace_judgements_of_delete_fn"() returns trigger language plpgsql as $$ begin
      delete from trace_judgements using gone where trace_judgements.workspace_id = gone.workspace_id and trace_judgements.trace_id = gone.id; return null; end $$;`);
    this.addSql(
      `create trigger "trace_judgements_of_delete" after delete on "traces" referencing old table as gone for each statement execute function "traces_trace_judgements_of_delete_fn"();`,
    );

    this.addSql(`create or replace function "trace_judgements_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum((coalesce(octet_length(made.answer), 0) + 1024)) from made group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "trace_judgements" referencing new table as made for each statement execute function "trace_judgements_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "trace_judgements_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum(bytes) from (
        select workspace_id, (coalesce(octet_length(made.answer), 0) + 1024) as bytes from made union all select workspace_id, -(coalesce(octet_length(gone.answer), 0) + 1024) from gone
      ) as change group by workspace_id having sum(bytes) <> 0; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "trace_judgements" referencing old table as gone new table as made for each statement execute function "trace_judgements_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "trace_judgements_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((coalesce(octet_length(gone.answer), 0) + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "trace_judgements" referencing old table as gone for each statement execute function "trace_judgements_storage_of_delete_fn"();`,
    );
    this.addSql(`create or replace function "trace_judgements_usage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced, timed, model_ms)
      select owner.*, new.created_at, (true)::int, 0, 0, case when true then coalesce(new.tokens_input, 0) else 0 end, case when true then coalesce(new.tokens_output, 0) else 0 end, case when true then coalesce(new.tokens_cached_input, 0) else 0 end, case when true then coalesce(new.tokens_reasoning, 0) else 0 end, case when true then coalesce(new.cost_amount, 0) else 0 end, (true and new.cost_amount is not null)::int, (true and new.cost_amount is null and true)::int, 0, 0 from (select new.workspace_id, 'rule', new.rule, new.model) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_insert" after insert on "trace_judgements" for each row when (true)
      execute function "trace_judgements_usage_of_insert_fn"();`);
    this.addSql(`create or replace function "trace_judgements_usage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced, timed, model_ms)
      select owner.*, new.created_at, ((true)::int) - ((true)::int), (0) - (0), (0) - (0), (case when true then coalesce(new.tokens_input, 0) else 0 end) - (case when true then coalesce(old.tokens_input, 0) else 0 end), (case when true then coalesce(new.tokens_output, 0) else 0 end) - (case when true then coalesce(old.tokens_output, 0) else 0 end), (case when true then coalesce(new.tokens_cached_input, 0) else 0 end) - (case when true then coalesce(old.tokens_cached_input, 0) else 0 end), (case when true then coalesce(new.tokens_reasoning, 0) else 0 end) - (case when true then coalesce(old.tokens_reasoning, 0) else 0 end), (case when true then coalesce(new.cost_amount, 0) else 0 end) - (case when true then coalesce(old.cost_amount, 0) else 0 end), ((true and new.cost_amount is not null)::int) - ((true and old.cost_amount is not null)::int), ((true and new.cost_amount is null and true)::int) - ((true and old.cost_amount is null and true)::int), (0) - (0), (0) - (0) from (select new.workspace_id, 'rule', new.rule, new.model) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_update" after update on "trace_judgements" for each row when (true and (old.tokens_input, old.tokens_output, old.tokens_cached_input, old.tokens_reasoning, old.cost_amount, true, true) is distinct from (new.tokens_input, new.tokens_output, new.tokens_cached_input, new.tokens_reasoning, new.cost_amount, true, true))
      execute function "trace_judgements_usage_of_update_fn"();`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "storage_of_insert" on "trace_judgements";`);
    this.addSql(`drop function if exists "trace_judgements_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "trace_judgements";`);
    this.addSql(`drop function if exists "trace_judgements_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "trace_judgements";`);
    this.addSql(`drop function if exists "trace_judgements_storage_of_delete_fn"();`);
    this.addSql(`drop trigger if exists "usage_of_insert" on "trace_judgements";`);
    this.addSql(`drop function if exists "trace_judgements_usage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "usage_of_update" on "trace_judgements";`);
    this.addSql(`drop function if exists "trace_judgements_usage_of_update_fn"();`);
    this.addSql(`drop table if exists "trace_judgements" cascade;`);

    this.addSql(`create or replace function "executions_rules_of_insert_fn"() returns trigger language plpgsql as $$ begin
      if not exists (select from rules where workspace_id = new.workspace_id and enabled) then return null; end if;       insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);
    this.addSql(`create or replace function "executions_rules_of_update_fn"() returns trigger language plpgsql as $$ begin
      if not exists (select from rules where workspace_id = new.workspace_id and enabled) then return null; end if;       insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);

    this.addSql(`alter table "rule_items" drop column "trace_id";`);
    this.addSql(`alter table "rule_items" alter column "execution_id" set not null;`);

    this.addSql(`alter table "rules" drop column "trace_filter";`);

    this.addSql(`alter table "traces" drop column "settled_as";`);
    this.addSql(`drop trigger if exists "trace_judgements_of_delete" on "traces";`);
    this.addSql(`drop function if exists "traces_trace_judgements_of_delete_fn"();`);
  }
}
