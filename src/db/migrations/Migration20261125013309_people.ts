import { Migration } from '@mikro-orm/migrations';

export class Migration20261125013309_people extends Migration {
  override name = 'Migration20261125013309_people';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "members" ("id" uuid not null, "workspace_id" uuid not null, "user_id" uuid not null, "name" text not null, "email" text null, "role" text not null, "role_set" text null, "status" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "members_workspace_id_id_index" on "members" ("workspace_id", "id");`);
    this.addSql(`create index "members_user_id_index" on "members" ("user_id");`);
    this.addSql(
      `alter table "members" add constraint "members_workspace_id_user_id_unique" unique ("workspace_id", "user_id");`,
    );

    this.addSql(
      `create table "users" ("id" uuid not null, "issuer" text not null, "subject" text not null, "name" text not null, "email" text null, "user_name" text null, "is_active" boolean not null default true, "grants" jsonb not null, "last_sign_in_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create unique index "users_lower_user_name_unique" on "users" (lower("user_name")) where "user_name" is not null;`,
    );
    this.addSql(`alter table "users" add constraint "users_issuer_subject_unique" unique ("issuer", "subject");`);

    this.addSql(
      `create table "user_groups" ("id" uuid not null, "display_name" text not null, "external_id" text null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "user_groups" add constraint "user_groups_display_name_unique" unique ("display_name");`);

    this.addSql(
      `create table "user_group_members" ("group_id" uuid not null, "user_id" uuid not null, primary key ("group_id", "user_id"));`,
    );
    this.addSql(`create index "user_group_members_user_id_index" on "user_group_members" ("user_id");`);

    this.addSql(
      `alter table "api_keys" add "kind" text not null default 'service', add "member_id" uuid null, add "made_by" uuid null;`,
    );
    this.addSql(`create index "api_keys_member_id_index" on "api_keys" ("member_id") where "member_id" is not null;`);
    this.addSql(
      `create unique index "api_keys_sign_in_unique" on "api_keys" ("member_id") where "kind" = 'sign_in' and "revoked_at" is null;`,
    );

    this.addSql(`alter table "audit_log" add "member_id" uuid null;`);
    this.addSql(
      `create index "audit_log_workspace_id_member_id_id_index" on "audit_log" ("workspace_id", "member_id", "id") where "member_id" is not null;`,
    );

    this.addSql(
      `alter table "sessions" add "provider" text null, add "provider_tokens" bytea null, add "check_at" timestamptz(3) null;`,
    );
    this.addSql(`create index "sessions_check_at_index" on "sessions" ("check_at") where "check_at" is not null;`);

    this.addSql(
      `alter table "user_group_members" add constraint "user_group_members_group_id_foreign" foreign key ("group_id") references "user_groups" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "user_group_members" add constraint "user_group_members_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "user_group_members" drop constraint "user_group_members_user_id_foreign";`);
    this.addSql(`alter table "user_group_members" drop constraint "user_group_members_group_id_foreign";`);

    this.addSql(`drop table if exists "members" cascade;`);
    this.addSql(`drop table if exists "users" cascade;`);
    this.addSql(`drop table if exists "user_groups" cascade;`);
    this.addSql(`drop table if exists "user_group_members" cascade;`);

    this.addSql(`drop index "api_keys_member_id_index";`);
    this.addSql(`drop index "api_keys_sign_in_unique";`);
    this.addSql(`alter table "api_keys" drop column "kind", drop column "member_id", drop column "made_by";`);

    this.addSql(`drop index "audit_log_workspace_id_member_id_id_index";`);
    this.addSql(`alter table "audit_log" drop column "member_id";`);

    this.addSql(`drop index "sessions_check_at_index";`);
    this.addSql(
      `alter table "sessions" drop column "provider", drop column "provider_tokens", drop column "check_at";`,
    );
  }
}
