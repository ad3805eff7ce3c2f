import { Migration } from '@mikro-orm/migrations';

export class Migration20261124113136_storage_sums extends Migration {
  override name = 'Migration20261124113136_storage_sums';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "storage_entries" ("id" bigserial primary key, "workspace_id" uuid not null, "kind" text not null, "bytes" bigint not null);`,
    );
    this.addSql(
      `create index "storage_entries_workspace_id_kind_index" on "storage_entries" ("workspace_id", "kind");`,
    );

    this.addSql(
      `create table "storage_sums" ("workspace_id" uuid not null, "kind" text not null, "bytes" bigint not null, primary key ("workspace_id", "kind"));`,
    );

    this.addSql(`create or replace function "audit_log_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'audit', (octet_length(new.details::text) + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "audit_log" for each row execute function "audit_log_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "audit_log_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'audit', -sum((octet_length(gone.details::text) + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "audit_log" referencing old table as gone for each statement execute function "audit_log_storage_of_delete_fn"();`,
    );

    this.addSql(`alter table "evaluations" add "result_bytes" bigint not null default '0';`);
    this.addSql(`create or replace function "evaluations_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select * from (values (old.workspace_id, 'runs', -old.result_bytes), (new.workspace_id, 'runs', new.result_bytes))
        as change(workspace_id, kind, bytes) where workspace_id <> '00000000-0000-0000-0000-000000000000'; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "evaluations" for each row when (old.result_bytes is distinct from new.result_bytes or old.workspace_id is distinct from new.workspace_id) execute function "evaluations_storage_of_update_fn"();`,
    );

    this.addSql(`create or replace function "executions_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "executions" for each row execute function "executions_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "executions_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024) - (old.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "executions" for each row when (old.bytes is distinct from new.bytes) execute function "executions_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "executions_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((gone.bytes + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "executions" referencing old table as gone for each statement execute function "executions_storage_of_delete_fn"();`,
    );

    // By hand: counts existing rows. Creating the triggers blocks writers until this has ended.
    this.addSql(
      `update "evaluations" set "result_bytes" = "sums"."bytes" from (select "evaluation_id", sum("bytes" + 1024) as "bytes" from "evaluation_results" group by "evaluation_id") as "sums" where "sums"."evaluation_id" = "evaluations"."id";`,
    );
    this.addSql(
      `insert into "storage_entries" ("workspace_id", "kind", "bytes") select "workspace_id", 'runs', sum("bytes" + 1024) from "executions" group by "workspace_id" union all select "workspace_id", 'audit', sum(octet_length("details"::text) + 1024) from "audit_log" group by "workspace_id";`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "storage_entries" cascade;`);
    this.addSql(`drop table if exists "storage_sums" cascade;`);

    this.addSql(`drop trigger if exists "storage_of_insert" on "audit_log";`);
    this.addSql(`drop function if exists "audit_log_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "audit_log";`);
    this.addSql(`drop function if exists "audit_log_storage_of_delete_fn"();`);

    this.addSql(`drop trigger if exists "storage_of_update" on "evaluations";`);
    this.addSql(`drop function if exists "evaluations_storage_of_update_fn"();`);
    this.addSql(`alter table "evaluations" drop column "result_bytes";`);

    this.addSql(`drop trigger if exists "storage_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_delete_fn"();`);
  }
}
