import { Migration } from '@mikro-orm/migrations';
export class Migration20261127105508_traces extends Migration {
  override name = 'Migration20261127105508_traces';
  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `create table "traces" ("workspace_id" uuid not null, "id" uuid not null, "name" text null, "status" text not null, "started_at" timestamptz(3) not null, "ended_at" timestamptz(3) null, "steps" bigint not null default '0', "calls" bigint not null default '0', "errors" bigint not null default '0', "tokens_input" bigint not null default '0', "tokens_output" bigint not null default '0', "tokens_cached_input" bigint not null default '0', "tokens_reasoning" bigint not null default '0', "cost_amount" numeric null, "unpriced_calls" bigint not null default '0', "models" text[] not null default '{}', "tools" text[] not null default '{}', "agents" text[] not null default '{}', "prompts" jsonb not null default '[]', "conversation_id" text null, "user_id" text null, "service" text null, "environment" text null, "tags" text[] not null default '{}', "metadata" jsonb not null default '{}', "input" text null, "output" text null, "incomplete" text[] not null default '{}', "bytes" bigint not null default '0', "first_day" bigint not null, "last_day" bigint not null, "settle_at" timestamptz(3) null, primary key ("workspace_id", "id"));`,
    );
    this.addSql(
      `create index "traces_workspace_id_started_at_id_index" on "traces" ("workspace_id", "started_at", "id");`,
    );
    this.addSql(
      `create index "traces_workspace_id_name_started_at_id_index" on "traces" ("workspace_id", "name", "started_at", "id");`,
    );
    this.addSql(`create index "traces_started_at_index" on "traces" ("started_at");`);
    this.addSql(
      `create index "traces_conversation_index" on "traces" ("workspace_id", "conversation_id", "started_at", "id") where "conversation_id" is not null;`,
    );
    this.addSql(
      `create index "traces_user_index" on "traces" ("workspace_id", "user_id", "started_at", "id") where "user_id" is not null;`,
    );
    this.addSql(
      `create index "traces_settle_index" on "traces" ("workspace_id", "settle_at") where "settle_at" is not null;`,
    );
    this.addSql(
      `create table "trace_steps" ("workspace_id" uuid not null, "trace_id" uuid not null, "span_id" text not null, "day" bigint not null, "parent_id" text null, "type" text not null, "name" text not null, "status" text not null, "error" text null, "error_type" text null, "started_us" bigint not null, "ended_us" bigint null, "model" text null, "provider" text null, "tool" text null, "agent" text null, "tokens" jsonb null, "own_tokens" jsonb null, "cost_amount" numeric null, "execution_id" uuid null, "prompt_name" text null, "prompt_version" bigint null, "conversation_id" text null, "user_id" text null, "service" text null, "environment" text null, "tags" text[] null, "metadata" jsonb null, "input_head" text null, "output_head" text null, "has_input" boolean not null, "has_output" boolean not null, "cut" text[] not null default '{}', "complete" boolean not null, "content" jsonb not null, "bytes" bigint not null, primary key ("workspace_id", "trace_id", "span_id", "day")) partition by range ("day");`,
    );
    this.addSql(`create or replace function "traces_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum((made.bytes + 1024)) from made group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "traces" referencing new table as made for each statement execute function "traces_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "traces_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum(bytes) from (
        select workspace_id, (made.bytes + 1024) as bytes from made union all select workspace_id, -(gone.bytes + 1024) from gone
      ) as change group by workspace_id having sum(bytes) <> 0; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "traces" referencing old table as gone new table as made for each statement execute function "traces_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "traces_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((gone.bytes + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "traces" referencing old table as gone for each statement execute function "traces_storage_of_delete_fn"();`,
    );
  }
  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "storage_of_insert" on "traces";`);
    this.addSql(`drop function if exists "traces_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "traces";`);
    this.addSql(`drop function if exists "traces_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "traces";`);
    this.addSql(`drop function if exists "traces_storage_of_delete_fn"();`);
    this.addSql(`drop table if exists "traces" cascade;`);
    this.addSql(`drop table if exists "trace_steps" cascade;`);
  }
}
