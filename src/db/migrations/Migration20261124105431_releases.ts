import { Migration } from '@mikro-orm/migrations';

export class Migration20261124105431_releases extends Migration {
  override name = 'Migration20261124105431_releases';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "label_policies" ("id" uuid not null, "workspace_id" uuid not null, "label" text not null, "steps" jsonb not null, "required" boolean not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "label_policies" add constraint "label_policies_workspace_id_label_unique" unique ("workspace_id", "label");`,
    );

    this.addSql(
      `create table "releases" ("id" uuid not null, "workspace_id" uuid not null, "prompt_id" uuid not null, "prompt_name" text not null, "label" text not null, "stable_version" int not null, "candidate_version" int not null, "steps" jsonb not null, "step" int not null default 0, "percent" double precision not null default 0, "salt" text not null, "stage" int not null default 0, "status" text not null, "status_reason" text null, "reason" text null, "metadata" jsonb not null, "deadline" timestamptz(3) null, "approvals" jsonb not null default '[]', "decisions" jsonb not null default '[]', "evaluation_id" uuid null, "created_by" jsonb not null, "authors" text[] not null default '{}', "bytes" int generated always as (COALESCE(octet_length((steps)::text), 0) + COALESCE(octet_length((approvals)::text), 0) + COALESCE(octet_length((decisions)::text), 0) + COALESCE(octet_length((metadata)::text), 0) + COALESCE(octet_length(reason), 0)) stored not null, "created_at" timestamptz(3) not null, "promoted_at" timestamptz(3) null, "finished_at" timestamptz(3) null, "untold" boolean not null default false, "check_at" timestamptz(3) not null default (now() + '00:00:10'::interval), primary key ("id"));`,
    );
    this.addSql(`create index "releases_workspace_id_id_index" on "releases" ("workspace_id", "id");`);
    this.addSql(
      `create index "releases_workspace_id_prompt_name_id_index" on "releases" ("workspace_id", "prompt_name", "id");`,
    );
    this.addSql(
      `create unique index "releases_active_index" on "releases" ("prompt_id", "label") where status in ('in_progress', 'paused', 'awaiting_approval', 'baking');`,
    );
    this.addSql(
      `create index "releases_check_index" on "releases" ("check_at") where "untold" or status in ('in_progress', 'paused', 'awaiting_approval', 'baking');`,
    );

    this.addSql(
      `create table "release_entries" ("id" bigserial primary key, "workspace_id" uuid not null, "release_id" uuid not null, "stage" int not null, "arm" text not null, "created_at" timestamptz(3) not null, "failed" boolean not null, "fell_back" boolean not null, "reused" boolean not null, "latency_ms" double precision null, "cost" double precision null, "tokens" bigint not null);`,
    );
    this.addSql(`create index "release_entries_release_id_index" on "release_entries" ("release_id");`);

    this.addSql(
      `create table "release_sums" ("release_id" uuid not null, "stage" int not null, "arm" text not null, "starts_at" timestamptz(3) not null, "measure" text not null, "bucket" int not null, "workspace_id" uuid not null, "count" bigint not null, "total" double precision not null, "squares" double precision not null, primary key ("release_id", "stage", "arm", "starts_at", "measure", "bucket"));`,
    );
    this.addSql(`create index "release_sums_starts_at_index" on "release_sums" ("starts_at");`);

    this.addSql(
      `alter table "executions" add "release_id" uuid null, add "release_arm" text null, add "release_keyed" boolean null, add "release_stage" int null;`,
    );
    this.addSql(
      `create index "executions_release_index" on "executions" ("workspace_id", "release_id", "id") where "release_id" is not null;`,
    );
    this.addSql(`create or replace function "executions_release_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into release_entries (workspace_id, release_id, stage, arm, created_at, failed, fell_back, reused, latency_ms, cost, tokens)
      values (new.workspace_id, new.release_id, new.release_stage, new.release_arm, new.created_at, new.status = 'failed',
        new.model is distinct from coalesce(new.requested_model, new.model), new.reused_from is not null,
        case when new.status = 'completed' and new.reused_from is null then extract(epoch from new.finished_at - new.created_at) * 1000 end,
        case when new.reused_from is null then new.cost_amount end, new.tokens_input + new.tokens_output);       return null; end $$;`);
    this.addSql(`create trigger "release_of_update" after update on "executions" for each row when (new.release_stage is not null and new.status in ('completed', 'failed') and old.status is distinct from new.status)
      execute function "executions_release_of_update_fn"();`);

    this.addSql(
      `alter table "prompt_labels" add "release_id" uuid null, add "candidate" int null, add "percent" double precision null, add "salt" text null, add "stage" int null;`,
    );

    this.addSql(
      `alter table "releases" add constraint "releases_status_check" check ("status" in ('in_progress', 'paused', 'awaiting_approval', 'baking', 'succeeded', 'rolled_back', 'rejected', 'failed', 'superseded', 'canceled'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "label_policies" cascade;`);
    this.addSql(`drop table if exists "releases" cascade;`);
    this.addSql(`drop table if exists "release_entries" cascade;`);
    this.addSql(`drop table if exists "release_sums" cascade;`);

    this.addSql(`drop index "executions_release_index";`);
    this.addSql(`drop trigger if exists "release_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_release_of_update_fn"();`);
    this.addSql(
      `alter table "executions" drop column "release_id", drop column "release_arm", drop column "release_keyed", drop column "release_stage";`,
    );

    this.addSql(
      `alter table "prompt_labels" drop column "release_id", drop column "candidate", drop column "percent", drop column "salt", drop column "stage";`,
    );
  }
}
