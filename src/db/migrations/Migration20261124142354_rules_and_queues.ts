import { Migration } from '@mikro-orm/migrations';

export class Migration20261124142354_rules_and_queues extends Migration {
  override name = 'Migration20261124142354_rules_and_queues';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "queues" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "description" text null, "score_names" text[] not null, "filter" jsonb null, "sample_rate" double precision not null, "reviewers_per_item" int not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "queues" add constraint "queues_workspace_id_name_unique" unique ("workspace_id", "name");`,
    );

    this.addSql(
      `create table "queue_candidates" ("id" bigserial primary key, "workspace_id" uuid not null, "execution_id" uuid not null);`,
    );
    this.addSql(`create index "queue_candidates_workspace_id_id_index" on "queue_candidates" ("workspace_id", "id");`);

    this.addSql(
      `create table "queue_items" ("id" uuid not null, "workspace_id" uuid not null, "queue_id" uuid not null, "execution_id" uuid null, "evaluation_id" uuid null, "example_id" text null, "completed" int not null default 0, "skipped" int not null default 0, "completed_at" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "queue_items_workspace_id_index" on "queue_items" ("workspace_id");`);
    this.addSql(`create index "queue_items_queue_id_id_index" on "queue_items" ("queue_id", "id");`);
    this.addSql(
      `create index "queue_items_open_index" on "queue_items" ("queue_id", "id") where "completed_at" is null;`,
    );
    this.addSql(
      `create unique index "queue_items_execution_index" on "queue_items" ("execution_id", "queue_id") where "execution_id" is not null;`,
    );
    this.addSql(
      `create unique index "queue_items_example_index" on "queue_items" ("evaluation_id", "example_id", "queue_id") where "evaluation_id" is not null;`,
    );

    this.addSql(
      `create table "queue_reviews" ("item_id" uuid not null, "reviewer" text not null, "workspace_id" uuid not null, "queue_id" uuid not null, "leased_until" timestamptz(3) not null, "outcome" text null, "ended_at" timestamptz(3) null, "score_ids" uuid[] not null default '{}', "request_hash" bytea null, "correction" jsonb null, primary key ("item_id", "reviewer"));`,
    );
    this.addSql(`create index "queue_reviews_workspace_id_index" on "queue_reviews" ("workspace_id");`);
    this.addSql(
      `create index "queue_reviews_leased_index" on "queue_reviews" ("queue_id", "reviewer") where "outcome" is null;`,
    );
    this.addSql(`create index "queue_reviews_queue_id_ended_at_index" on "queue_reviews" ("queue_id", "ended_at");`);

    this.addSql(
      `create table "rules" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "prompt_name" text null, "prompt_group" text null, "label" text null, "filter" jsonb null, "sample_rate" double precision not null, "evaluators" jsonb not null, "evaluator_secrets" bytea null, "max_cost_per_day" numeric null, "enabled" boolean not null, "revision" int not null default 1, "last_error" jsonb null, "bytes" int generated always as (COALESCE(octet_length((filter)::text), 0) + COALESCE(octet_length((evaluators)::text), 0) + COALESCE(octet_length((last_error)::text), 0)) stored not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "check_at" timestamptz(3) not null default now(), primary key ("id"));`,
    );
    this.addSql(`alter table "rules" add constraint "rules_workspace_id_name_unique" unique ("workspace_id", "name");`);

    this.addSql(
      `create table "rule_backfills" ("id" uuid not null, "workspace_id" uuid not null, "rule_id" uuid not null, "name" text not null, "prompt_name" text null, "prompt_group" text null, "label" text null, "filter" jsonb null, "sample_rate" double precision not null, "evaluators" jsonb not null, "evaluator_secrets" bytea null, "since" timestamptz(3) not null, "until" timestamptz(3) not null, "max_cost" numeric null, "status" text not null, "status_reason" text null, "error" jsonb null, "last_error" jsonb null, "position" uuid not null, "exhausted" boolean not null default false, "found" bigint not null default '0', "bytes" int generated always as (COALESCE(octet_length((filter)::text), 0) + COALESCE(octet_length((evaluators)::text), 0) + COALESCE(octet_length((error)::text), 0) + COALESCE(octet_length((last_error)::text), 0)) stored not null, "created_at" timestamptz(3) not null, "finished_at" timestamptz(3) null, "check_at" timestamptz(3) not null default now(), primary key ("id"));`,
    );
    this.addSql(
      `create index "rule_backfills_workspace_id_rule_id_id_index" on "rule_backfills" ("workspace_id", "rule_id", "id");`,
    );
    this.addSql(
      `create index "rule_backfills_check_index" on "rule_backfills" ("check_at") where status in ('running');`,
    );

    this.addSql(
      `create table "rule_days" ("work_id" uuid not null, "day" date not null, "workspace_id" uuid not null, "scored" bigint not null default '0', "failed" bigint not null default '0', "skipped" bigint not null default '0', "skipped_budget" bigint not null default '0', "spent" numeric not null default 0, primary key ("work_id", "day"));`,
    );
    this.addSql(`create index "rule_days_workspace_id_index" on "rule_days" ("workspace_id");`);

    this.addSql(
      `create table "rule_items" ("id" bigserial primary key, "workspace_id" uuid not null, "work_id" uuid not null, "execution_id" uuid not null, "created_at" timestamptz(3) not null);`,
    );
    this.addSql(
      `create index "rule_items_workspace_id_work_id_id_index" on "rule_items" ("workspace_id", "work_id", "id");`,
    );

    this.addSql(
      `create table "rule_judgements" ("execution_id" uuid not null, "rule" text not null, "evaluator" text not null, "version" text not null, "workspace_id" uuid not null, "model" text not null, "answer" text null, "asks" int not null default 1, "tokens_input" bigint not null default '0', "tokens_output" bigint not null default '0', "tokens_cached_input" bigint not null default '0', "tokens_reasoning" bigint not null default '0', "cost_amount" numeric null, "assumed_cost" numeric null, "outcome_ids" uuid[] not null default '{}', "pricing" jsonb null, "created_at" timestamptz(3) not null, primary key ("execution_id", "rule", "evaluator", "version"));`,
    );
    this.addSql(`create index "rule_judgements_workspace_id_index" on "rule_judgements" ("workspace_id");`);

    this.addSql(`create or replace function "evaluations_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      delete from queue_items where evaluation_id = new.id; return null; end $$;`);
    this.addSql(`create trigger "queues_of_update" after update on "evaluations" for each row when (old.workspace_id is distinct from new.workspace_id)
      execute function "evaluations_queues_of_update_fn"();`);

    this.addSql(`create or replace function "executions_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.id from (select new.workspace_id, new.id) as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(`create trigger "queues_of_insert" after insert on "executions" for each row when (new.status in ('completed', 'failed', 'canceled'))
      execute function "executions_queues_of_insert_fn"();`);
    this.addSql(`create or replace function "executions_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.id from (select new.workspace_id, new.id) as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(`create trigger "queues_of_update" after update on "executions" for each row when (new.status in ('completed', 'failed', 'canceled') and old.status is distinct from new.status)
      execute function "executions_queues_of_update_fn"();`);
    this.addSql(`create or replace function "executions_rules_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);
    this.addSql(`create trigger "rules_of_insert" after insert on "executions" for each row when (new.status in ('completed') and new.reused_from is null and (new.prompt_version is not null or new.recorded))
      execute function "executions_rules_of_insert_fn"();`);
    this.addSql(`create or replace function "executions_rules_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);
    this.addSql(`create trigger "rules_of_update" after update on "executions" for each row when (new.status in ('completed') and new.reused_from is null and (new.prompt_version is not null or new.recorded) and old.status is distinct from new.status)
      execute function "executions_rules_of_update_fn"();`);

    this.addSql(
      `create index "scores_people_index" on "scores" ("workspace_id", "name", "created_at", "id") where "source" in ('person', 'feedback');`,
    );
    this.addSql(`create or replace function "scores_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.execution_id from made as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null) and found.execution_id is not null; return null; end $$;`);
    this.addSql(
      `create trigger "queues_of_insert" after insert on "scores" referencing new table as made for each statement execute function "scores_queues_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "scores_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.execution_id from made as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null) and found.execution_id is not null; return null; end $$;`);
    this.addSql(
      `create trigger "queues_of_update" after update on "scores" referencing new table as made for each statement execute function "scores_queues_of_update_fn"();`,
    );

    this.addSql(`alter table "usage_entries" drop constraint "usage_entries_kind_check";`);
    this.addSql(
      `alter table "usage_entries" add constraint "usage_entries_kind_check" check ("kind" in ('execution', 'example', 'judgement', 'rule'));`,
    );

    this.addSql(`alter table "usage_sums" drop constraint "usage_sums_kind_check";`);
    this.addSql(
      `alter table "usage_sums" add constraint "usage_sums_kind_check" check ("kind" in ('execution', 'example', 'judgement', 'rule'));`,
    );

    this.addSql(
      `alter table "queue_items" add constraint "queue_items_queue_id_foreign" foreign key ("queue_id") references "queues" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "queue_items" add constraint "queue_items_execution_id_foreign" foreign key ("execution_id") references "executions" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "queue_items" add constraint "queue_items_evaluation_id_foreign" foreign key ("evaluation_id") references "evaluations" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "queue_reviews" add constraint "queue_reviews_item_id_foreign" foreign key ("item_id") references "queue_items" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "rule_backfills" add constraint "rule_backfills_rule_id_foreign" foreign key ("rule_id") references "rules" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "rule_backfills" add constraint "rule_backfills_status_check" check ("status" in ('running', 'paused', 'completed', 'failed', 'canceled'));`,
    );

    this.addSql(
      `alter table "rule_judgements" add constraint "rule_judgements_execution_id_foreign" foreign key ("execution_id") references "executions" ("id") on delete cascade;`,
    );
    this.addSql(`create or replace function "rule_judgements_usage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced, timed, model_ms)
      select owner.*, new.created_at, (true)::int, 0, 0, case when true then coalesce(new.tokens_input, 0) else 0 end, case when true then coalesce(new.tokens_output, 0) else 0 end, case when true then coalesce(new.tokens_cached_input, 0) else 0 end, case when true then coalesce(new.tokens_reasoning, 0) else 0 end, case when true then coalesce(new.cost_amount, 0) else 0 end, (true and new.cost_amount is not null)::int, (true and new.cost_amount is null and true)::int, 0, 0 from (select new.workspace_id, 'rule', new.rule, new.model) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_insert" after insert on "rule_judgements" for each row when (true)
      execute function "rule_judgements_usage_of_insert_fn"();`);
    this.addSql(`create or replace function "rule_judgements_usage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced, timed, model_ms)
      select owner.*, new.created_at, ((true)::int) - ((true)::int), (0) - (0), (0) - (0), (case when true then coalesce(new.tokens_input, 0) else 0 end) - (case when true then coalesce(old.tokens_input, 0) else 0 end), (case when true then coalesce(new.tokens_output, 0) else 0 end) - (case when true then coalesce(old.tokens_output, 0) else 0 end), (case when true then coalesce(new.tokens_cached_input, 0) else 0 end) - (case when true then coalesce(old.tokens_cached_input, 0) else 0 end), (case when true then coalesce(new.tokens_reasoning, 0) else 0 end) - (case when true then coalesce(old.tokens_reasoning, 0) else 0 end), (case when true then coalesce(new.cost_amount, 0) else 0 end) - (case when true then coalesce(old.cost_amount, 0) else 0 end), ((true and new.cost_amount is not null)::int) - ((true and old.cost_amount is not null)::int), ((true and new.cost_amount is null and true)::int) - ((true and old.cost_amount is null and true)::int), (0) - (0), (0) - (0) from (select new.workspace_id, 'rule', new.rule, new.model) as owner; return null; end $$;`);
    this.addSql(`create trigger "usage_of_update" after update on "rule_judgements" for each row when (true and (old.tokens_input, old.tokens_output, old.tokens_cached_input, old.tokens_reasoning, old.cost_amount, true, true) is distinct from (new.tokens_input, new.tokens_output, new.tokens_cached_input, new.tokens_reasoning, new.cost_amount, true, true))
      execute function "rule_judgements_usage_of_update_fn"();`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "queue_items" drop constraint "queue_items_queue_id_foreign";`);
    this.addSql(`alter table "queue_reviews" drop constraint "queue_reviews_item_id_foreign";`);
    this.addSql(`alter table "rule_backfills" drop constraint "rule_backfills_rule_id_foreign";`);

    this.addSql(`drop table if exists "queues" cascade;`);
    this.addSql(`drop table if exists "queue_candidates" cascade;`);
    this.addSql(`drop table if exists "queue_items" cascade;`);
    this.addSql(`drop table if exists "queue_reviews" cascade;`);
    this.addSql(`drop table if exists "rules" cascade;`);
    this.addSql(`drop table if exists "rule_backfills" cascade;`);
    this.addSql(`drop table if exists "rule_days" cascade;`);
    this.addSql(`drop table if exists "rule_items" cascade;`);
    this.addSql(`drop trigger if exists "usage_of_insert" on "rule_judgements";`);
    this.addSql(`drop function if exists "rule_judgements_usage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "usage_of_update" on "rule_judgements";`);
    this.addSql(`drop function if exists "rule_judgements_usage_of_update_fn"();`);
    this.addSql(`drop table if exists "rule_judgements" cascade;`);

    this.addSql(`drop trigger if exists "queues_of_update" on "evaluations";`);
    this.addSql(`drop function if exists "evaluations_queues_of_update_fn"();`);

    this.addSql(`drop trigger if exists "queues_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_queues_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_queues_of_update_fn"();`);
    this.addSql(`drop trigger if exists "rules_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_rules_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "rules_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_rules_of_update_fn"();`);

    this.addSql(`drop index "scores_people_index";`);
    this.addSql(`drop trigger if exists "queues_of_insert" on "scores";`);
    this.addSql(`drop function if exists "scores_queues_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_update" on "scores";`);
    this.addSql(`drop function if exists "scores_queues_of_update_fn"();`);

    this.addSql(`alter table "usage_entries" drop constraint "usage_entries_kind_check";`);
    this.addSql(
      `alter table "usage_entries" add constraint "usage_entries_kind_check" check ("kind" in ('execution', 'example', 'judgement'));`,
    );

    this.addSql(`alter table "usage_sums" drop constraint "usage_sums_kind_check";`);
    this.addSql(
      `alter table "usage_sums" add constraint "usage_sums_kind_check" check ("kind" in ('execution', 'example', 'judgement'));`,
    );
  }
}
