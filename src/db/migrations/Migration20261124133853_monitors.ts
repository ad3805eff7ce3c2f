import { Migration } from '@mikro-orm/migrations';

export class Migration20261124133853_monitors extends Migration {
  override name = 'Migration20261124133853_monitors';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "monitors" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "prompt_name" text null, "label" text null, "window" text not null, "checks" jsonb not null, "notify" jsonb not null, "enabled" boolean not null, "state" text not null, "since" timestamptz(3) not null, "progress" jsonb not null default '[]', "silent" int not null default 0, "revision" int not null default 0, "last_checked_at" timestamptz(3) null, "bytes" int generated always as (COALESCE(octet_length((checks)::text), 0) + COALESCE(octet_length((progress)::text), 0)) stored not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "monitors" add constraint "monitors_workspace_id_name_unique" unique ("workspace_id", "name");`,
    );

    this.addSql(
      `create table "monitor_changes" ("id" uuid not null, "workspace_id" uuid not null, "monitor_id" uuid not null, "previous_state" text not null, "state" text not null, "reason" text not null, "progress" jsonb not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "monitor_changes_workspace_id_monitor_id_id_index" on "monitor_changes" ("workspace_id", "monitor_id", "id");`,
    );

    this.addSql(
      `create table "monitored_workspaces" ("workspace_id" uuid not null, "summed_until" timestamptz(3) null, "check_at" timestamptz(3) not null, primary key ("workspace_id"));`,
    );
    this.addSql(`create index "monitored_workspaces_check_at_index" on "monitored_workspaces" ("check_at");`);

    this.addSql(
      `create table "run_minutes" ("workspace_id" uuid not null, "measure" text not null, "starts_at" timestamptz(3) not null, "prompt_name" text not null, "label" text not null, "bucket" int not null, "count" bigint not null, "total" double precision not null, "squares" double precision not null, primary key ("workspace_id", "measure", "starts_at", "prompt_name", "label", "bucket"));`,
    );
    this.addSql(`create index "run_minutes_starts_at_index" on "run_minutes" ("starts_at");`);

    this.addSql(
      `create index "executions_finished_index" on "executions" ("workspace_id", "finished_at") where "finished_at" is not null;`,
    );

    this.addSql(`alter table "notifications" add "monitor" text null;`);

    this.addSql(
      `alter table "monitors" add constraint "monitors_state_check" check ("state" in ('no_data', 'ok', 'alerting'));`,
    );

    this.addSql(
      `alter table "monitor_changes" add constraint "monitor_changes_monitor_id_foreign" foreign key ("monitor_id") references "monitors" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "monitor_changes" add constraint "monitor_changes_previous_state_check" check ("previous_state" in ('no_data', 'ok', 'alerting'));`,
    );
    this.addSql(
      `alter table "monitor_changes" add constraint "monitor_changes_state_check" check ("state" in ('no_data', 'ok', 'alerting'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "monitor_changes" drop constraint "monitor_changes_monitor_id_foreign";`);

    this.addSql(`drop table if exists "monitors" cascade;`);
    this.addSql(`drop table if exists "monitor_changes" cascade;`);
    this.addSql(`drop table if exists "monitored_workspaces" cascade;`);
    this.addSql(`drop table if exists "run_minutes" cascade;`);

    this.addSql(`drop index "executions_finished_index";`);

    this.addSql(`alter table "notifications" drop column "monitor";`);
  }
}
