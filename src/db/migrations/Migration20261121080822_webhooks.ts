import { Migration } from '@mikro-orm/migrations';

export class Migration20261121080822_webhooks extends Migration {
  override name = 'Migration20261121080822_webhooks';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "deliveries" ("id" uuid not null, "workspace_id" uuid not null, "event_id" uuid not null, "webhook_id" uuid not null, "trigger" text not null, "status" text not null, "status_reason" text null, "attempts_made" int not null default 0, "next_attempt_at" timestamptz(3) null, "slot_at" timestamptz(3) null, "claimed_at" timestamptz(3) null, "started_at" timestamptz(3) null, "to_end" boolean not null default false, "checked_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "finished_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "deliveries_workspace_id_webhook_id_id_index" on "deliveries" ("workspace_id", "webhook_id", "id");`,
    );
    this.addSql(`create index "deliveries_event_id_index" on "deliveries" ("event_id");`);
    this.addSql(
      `create unique index "deliveries_event_once_unique" on "deliveries" ("event_id", "webhook_id") where "trigger" = 'event';`,
    );
    this.addSql(
      `create index "deliveries_unfinished_index" on "deliveries" ("webhook_id", "id") where "status" in ('queued', 'waiting');`,
    );
    this.addSql(
      `create index "deliveries_unstarted_index" on "deliveries" (("trigger" = 'replay'), "id") where "status" = 'queued' and "started_at" is null;`,
    );
    this.addSql(`create index "deliveries_to_end_index" on "deliveries" ("id") where "to_end";`);

    this.addSql(
      `create table "delivery_attempts" ("delivery_id" uuid not null, "attempt" int not null, "started_at" timestamptz(3) not null, "duration_ms" int not null, "status" int null, "response_body" text null, "error" text null, primary key ("delivery_id", "attempt"));`,
    );

    this.addSql(
      `create table "notifications" ("id" uuid not null, "workspace_id" uuid not null, "type" text not null, "message" text not null, "webhook_id" uuid null, "delivery_id" uuid null, "emailed_at" timestamptz(3) null, "email_error" text null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "notifications" add constraint "notifications_delivery_id_unique" unique ("delivery_id");`,
    );
    this.addSql(`create index "notifications_workspace_id_id_index" on "notifications" ("workspace_id", "id");`);

    this.addSql(
      `create table "webhooks" ("id" uuid not null, "workspace_id" uuid not null, "url" text not null, "events" text[] not null, "description" text null, "status" text not null, "disabled_reason" text null, "consecutive_failures" int not null default 0, "last_delivery_at" timestamptz(3) null, "secret" bytea not null, "previous_secret" bytea null, "previous_secret_expires_at" timestamptz(3) null, "headers" bytea null, "rate_limit_per_minute" int null, "next_slot_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "webhooks_workspace_id_id_index" on "webhooks" ("workspace_id", "id");`);

    // As text, so that the bytes of an event never change.
    this.addSql(`alter table "events" alter column "data" type json using ("data"::json);`);
    this.addSql(`alter table "events" add "test" boolean not null default false;`);
    this.addSql(`create index "events_undispatched_index" on "events" ("id") where "dispatched_at" is null;`);

    this.addSql(
      `alter table "deliveries" add constraint "deliveries_trigger_check" check ("trigger" in ('event', 'redelivery', 'replay', 'test'));`,
    );
    this.addSql(
      `alter table "deliveries" add constraint "deliveries_status_check" check ("status" in ('queued', 'waiting', 'delivered', 'failed', 'abandoned'));`,
    );

    this.addSql(
      `alter table "delivery_attempts" add constraint "delivery_attempts_delivery_id_foreign" foreign key ("delivery_id") references "deliveries" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "webhooks" add constraint "webhooks_status_check" check ("status" in ('enabled', 'disabled'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "delivery_attempts" drop constraint "delivery_attempts_delivery_id_foreign";`);

    this.addSql(`drop table if exists "deliveries" cascade;`);
    this.addSql(`drop table if exists "delivery_attempts" cascade;`);
    this.addSql(`drop table if exists "notifications" cascade;`);
    this.addSql(`drop table if exists "webhooks" cascade;`);

    this.addSql(`drop index "events_undispatched_index";`);
    this.addSql(`alter table "events" drop column "test";`);
    this.addSql(`alter table "events" alter column "data" type jsonb using ("data"::jsonb);`);
  }
}
