import { Migration } from '@mikro-orm/migrations';

export class Migration20261121050407_initial extends Migration {
  override name = 'Migration20261121050407_initial';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "api_keys" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "hash" bytea not null, "scopes" text[] not null, "expires_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, "last_used_at" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "api_keys" add constraint "api_keys_hash_unique" unique ("hash");`);
    this.addSql(`create index "api_keys_workspace_id_id_index" on "api_keys" ("workspace_id", "id");`);

    this.addSql(
      `create table "events" ("id" uuid not null, "workspace_id" uuid not null, "type" text not null, "data" jsonb not null, "created_at" timestamptz(3) not null, "dispatched_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "events_workspace_id_id_index" on "events" ("workspace_id", "id");`);

    this.addSql(
      `create table "executions" ("id" uuid not null, "workspace_id" uuid not null, "prompt_name" text not null, "prompt_version" int not null, "model" text not null, "provider" text not null, "parameters" jsonb not null, "variables" jsonb not null, "input" text not null, "metadata" jsonb not null, "status" text not null, "attempts" int not null default 0, "output" text null, "finish_reason" text null, "tokens_input" int not null default 0, "tokens_output" int not null default 0, "tokens_cached_input" int not null default 0, "tokens_reasoning" int not null default 0, "cost_amount" numeric null, "pricing" jsonb null, "model_ms" int null, "error" jsonb null, "created_at" timestamptz(3) not null, "started_at" timestamptz(3) null, "answered_at" timestamptz(3) null, "finished_at" timestamptz(3) null, "checked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "executions_workspace_id_id_index" on "executions" ("workspace_id", "id");`);
    this.addSql(
      `create index "executions_workspace_id_prompt_name_id_index" on "executions" ("workspace_id", "prompt_name", "id");`,
    );
    this.addSql(
      `create index "executions_unfinished_index" on "executions" ("id") where "status" in ('queued', 'running');`,
    );

    this.addSql(
      `create table "idempotency_keys" ("id" uuid not null, "workspace_id" uuid not null, "key" text not null, "request_hash" bytea not null, "resource_id" text not null, "answer" bytea null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "idempotency_keys" add constraint "idempotency_keys_workspace_id_key_unique" unique ("workspace_id", "key");`,
    );

    this.addSql(
      `create table "prompts" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "description" text null, "latest_version" int not null, "archived_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "prompts" add constraint "prompts_workspace_id_name_unique" unique ("workspace_id", "name");`,
    );

    this.addSql(
      `create table "prompt_labels" ("id" uuid not null, "workspace_id" uuid not null, "prompt_id" uuid not null, "label" text not null, "version" int not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "prompt_labels" add constraint "prompt_labels_prompt_id_label_unique" unique ("prompt_id", "label");`,
    );

    this.addSql(
      `create table "prompt_versions" ("id" uuid not null, "workspace_id" uuid not null, "prompt_id" uuid not null, "version" int not null, "template" text not null, "model" text not null, "parameters" jsonb not null, "variables" text[] not null, "commit_message" text null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "prompt_versions" add constraint "prompt_versions_prompt_id_version_unique" unique ("prompt_id", "version");`,
    );

    this.addSql(
      `create table "rate_limits" ("key" varchar(255) not null, "points" int not null default 0, "expire" bigint null, primary key ("key"));`,
    );

    this.addSql(
      `create table "workspaces" ("id" uuid not null, "name" text not null, "owner_email" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "workspaces" add constraint "workspaces_name_unique" unique ("name");`);

    this.addSql(
      `alter table "executions" add constraint "executions_status_check" check ("status" in ('queued', 'running', 'completed', 'failed', 'canceled'));`,
    );

    this.addSql(
      `alter table "prompt_labels" add constraint "prompt_labels_prompt_id_foreign" foreign key ("prompt_id") references "prompts" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "prompt_versions" add constraint "prompt_versions_prompt_id_foreign" foreign key ("prompt_id") references "prompts" ("id") on delete cascade;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "prompt_labels" drop constraint "prompt_labels_prompt_id_foreign";`);
    this.addSql(`alter table "prompt_versions" drop constraint "prompt_versions_prompt_id_foreign";`);

    this.addSql(`drop table if exists "api_keys" cascade;`);
    this.addSql(`drop table if exists "events" cascade;`);
    this.addSql(`drop table if exists "executions" cascade;`);
    this.addSql(`drop table if exists "idempotency_keys" cascade;`);
    this.addSql(`drop table if exists "prompts" cascade;`);
    this.addSql(`drop table if exists "prompt_labels" cascade;`);
    this.addSql(`drop table if exists "prompt_versions" cascade;`);
    this.addSql(`drop table if exists "rate_limits" cascade;`);
    this.addSql(`drop table if exists "workspaces" cascade;`);
  }
}
