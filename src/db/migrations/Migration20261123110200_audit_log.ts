import { Migration } from '@mikro-orm/migrations';

export class Migration20261123110200_audit_log extends Migration {
  override name = 'Migration20261123110200_audit_log';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "audit_log" ("id" uuid not null, "workspace_id" uuid not null, "actor_type" text not null, "key_id" uuid null, "key_name" text null, "session_id" uuid null, "action" text not null, "resource_type" text not null, "resource_id" text not null, "details" jsonb not null, "address" text null, "request_id" text null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "audit_log_workspace_id_id_index" on "audit_log" ("workspace_id", "id");`);
    this.addSql(
      `create index "audit_log_workspace_id_action_id_index" on "audit_log" ("workspace_id", "action", "id");`,
    );
    this.addSql(
      `create index "audit_log_workspace_id_resource_type_id_index" on "audit_log" ("workspace_id", "resource_type", "id");`,
    );
    this.addSql(
      `create index "audit_log_workspace_id_resource_type_resource_id_id_index" on "audit_log" ("workspace_id", "resource_type", "resource_id", "id");`,
    );
    this.addSql(
      `create index "audit_log_workspace_id_key_id_id_index" on "audit_log" ("workspace_id", "key_id", "id");`,
    );
    this.addSql(
      `create index "audit_log_workspace_id_session_id_id_index" on "audit_log" ("workspace_id", "session_id", "id") where "session_id" is not null;`,
    );

    this.addSql(`create or replace function "audit_log_guard_fn"() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' and current_setting('pms.deletes_audit_log', true) = 'on' then return old; end if; raise exception 'The audit log only grows.'; end $$;`);
    this.addSql(
      `create trigger "guard" before update or delete on "audit_log" for each row execute function "audit_log_guard_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "guard" on "audit_log";`);
    this.addSql(`drop function if exists "audit_log_guard_fn"();`);
    this.addSql(`drop table if exists "audit_log" cascade;`);
  }
}
