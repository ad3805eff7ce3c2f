import { Migration } from '@mikro-orm/migrations';

export class Migration20261121053342_initial extends Migration {
  override name = 'Migration20261121053342_initial';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "api_keys" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "hash" bytea not null, "scopes" text[] not null, "expires_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, "last_used_at" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "api_keys" add constraint "api_keys_hash_unique" unique ("hash");`);
    this.addSql(`create index "api_keys_workspace_id_id_index" on "api_keys" ("workspace_id", "id");`);

    this.addSql(
      `create table "datasets" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "description" text null, "latest_version" int not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "datasets" add constraint "datasets_workspace_id_name_unique" unique ("workspace_id", "name");`,
    );

    this.addSql(
      `create table "dataset_versions" ("id" uuid not null, "workspace_id" uuid not null, "dataset_id" uuid null, "version" int not null, "examples_total" int not null, "hash" bytea not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "dataset_versions" add constraint "dataset_versions_dataset_id_version_unique" unique ("dataset_id", "version");`,
    );

    this.addSql(
      `create table "dataset_examples" ("id" uuid not null, "workspace_id" uuid not null, "dataset_version_id" uuid not null, "seq" int not null, "example_key" text not null, "variables" jsonb not null, "expected" jsonb null, "metadata" jsonb null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "dataset_examples" add constraint "dataset_examples_dataset_version_id_seq_unique" unique ("dataset_version_id", "seq");`,
    );

    this.addSql(
      `create table "evaluations" ("id" uuid not null, "workspace_id" uuid not null, "prompt_name" text not null, "prompt_version" int not null, "template" text not null, "model" text not null, "provider" text not null, "parameters" jsonb not null, "dataset_name" text null, "dataset_version" int null, "examples_id" uuid null, "examples_hash" bytea not null, "examples_total" int not null, "evaluators" jsonb not null, "threshold" double precision not null, "baseline_mode" text not null, "baseline_id" uuid null, "concurrency" int not null, "max_cost" numeric null, "start_at" timestamptz(3) null, "metadata" jsonb not null, "schedule_id" uuid null, "status" text not null, "status_reason" text null, "retries" int not null default 0, "score" double precision null, "scores_by_evaluator" jsonb null, "regressions" int null, "improvements" int null, "summary" jsonb null, "error" jsonb null, "created_at" timestamptz(3) not null, "started_at" timestamptz(3) null, "finished_at" timestamptz(3) null, "checked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "evaluations_workspace_id_id_index" on "evaluations" ("workspace_id", "id");`);
    this.addSql(
      `create index "evaluations_workspace_id_prompt_name_id_index" on "evaluations" ("workspace_id", "prompt_name", "id");`,
    );
    this.addSql(
      `create index "evaluations_unfinished_index" on "evaluations" ("id") where "status" in ('scheduled', 'running', 'paused');`,
    );

    this.addSql(
      `create table "evaluation_judgements" ("evaluation_id" uuid not null, "seq" int not null, "evaluator" text not null, "answer" text not null, "asks" int not null default 1, "tokens_input" int not null default 0, "tokens_output" int not null default 0, "tokens_cached_input" int not null default 0, "tokens_reasoning" int not null default 0, "cost_amount" numeric null, "pricing" jsonb null, "created_at" timestamptz(3) not null, primary key ("evaluation_id", "seq", "evaluator"));`,
    );

    this.addSql(
      `create table "evaluation_results" ("evaluation_id" uuid not null, "seq" int not null, "example_key" text not null, "variables" jsonb not null, "expected" jsonb null, "status" text not null, "output" text null, "finish_reason" text null, "tokens_input" int not null default 0, "tokens_output" int not null default 0, "tokens_cached_input" int not null default 0, "tokens_reasoning" int not null default 0, "cost_amount" numeric null, "pricing" jsonb null, "model_ms" int null, "attempts" int not null default 0, "round" int not null default 0, "error" jsonb null, "scores" jsonb null, "score" double precision null, "baseline_score" double precision null, "regression" boolean null, "improvement" boolean null, "created_at" timestamptz(3) not null, primary key ("evaluation_id", "seq"));`,
    );

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
      `create table "schedules" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "cron" text not null, "time_zone" text not null, "paused" boolean not null default false, "request" jsonb not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "schedules_workspace_id_id_index" on "schedules" ("workspace_id", "id");`);

    this.addSql(
      `create table "workspaces" ("id" uuid not null, "name" text not null, "owner_email" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "workspaces" add constraint "workspaces_name_unique" unique ("name");`);

    this.addSql(
      `alter table "dataset_versions" add constraint "dataset_versions_dataset_id_foreign" foreign key ("dataset_id") references "datasets" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "dataset_examples" add constraint "dataset_examples_dataset_version_id_foreign" foreign key ("dataset_version_id") references "dataset_versions" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "evaluations" add constraint "evaluations_status_check" check ("status" in ('scheduled', 'running', 'paused', 'completed', 'failed', 'canceled'));`,
    );

    this.addSql(
      `alter table "evaluation_judgements" add constraint "evaluation_judgements_evaluation_id_foreign" foreign key ("evaluation_id") references "evaluations" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "evaluation_results" add constraint "evaluation_results_evaluation_id_foreign" foreign key ("evaluation_id") references "evaluations" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "evaluation_results" add constraint "evaluation_results_status_check" check ("status" in ('answered', 'scored', 'failed'));`,
    );

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
    this.addSql(`alter table "dataset_versions" drop constraint "dataset_versions_dataset_id_foreign";`);
    this.addSql(`alter table "dataset_examples" drop constraint "dataset_examples_dataset_version_id_foreign";`);
    this.addSql(`alter table "evaluation_judgements" drop constraint "evaluation_judgements_evaluation_id_foreign";`);
    this.addSql(`alter table "evaluation_results" drop constraint "evaluation_results_evaluation_id_foreign";`);
    this.addSql(`alter table "prompt_labels" drop constraint "prompt_labels_prompt_id_foreign";`);
    this.addSql(`alter table "prompt_versions" drop constraint "prompt_versions_prompt_id_foreign";`);

    this.addSql(`drop table if exists "api_keys" cascade;`);
    this.addSql(`drop table if exists "datasets" cascade;`);
    this.addSql(`drop table if exists "dataset_versions" cascade;`);
    this.addSql(`drop table if exists "dataset_examples" cascade;`);
    this.addSql(`drop table if exists "evaluations" cascade;`);
    this.addSql(`drop table if exists "evaluation_judgements" cascade;`);
    this.addSql(`drop table if exists "evaluation_results" cascade;`);
    this.addSql(`drop table if exists "events" cascade;`);
    this.addSql(`drop table if exists "executions" cascade;`);
    this.addSql(`drop table if exists "idempotency_keys" cascade;`);
    this.addSql(`drop table if exists "prompts" cascade;`);
    this.addSql(`drop table if exists "prompt_labels" cascade;`);
    this.addSql(`drop table if exists "prompt_versions" cascade;`);
    this.addSql(`drop table if exists "rate_limits" cascade;`);
    this.addSql(`drop table if exists "schedules" cascade;`);
    this.addSql(`drop table if exists "workspaces" cascade;`);
  }
}
