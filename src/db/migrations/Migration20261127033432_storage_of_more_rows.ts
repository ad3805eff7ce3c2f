import { Migration } from '@mikro-orm/migrations';

export class Migration20261127033432_storage_of_more_rows extends Migration {
  override name = 'Migration20261127033432_storage_of_more_rows';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`create or replace function "deliveries_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum(4096) from made group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "deliveries" referencing new table as made for each statement execute function "deliveries_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "deliveries_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum(4096) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "deliveries" referencing old table as gone for each statement execute function "deliveries_storage_of_delete_fn"();`,
    );

    this.addSql(`create or replace function "evaluations_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (octet_length(new.content::text) + octet_length(new.includes::text) + octet_length(new.evaluators::text) + octet_length(new.metadata::text) + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "evaluations" for each row execute function "evaluations_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "evaluations_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum(result_bytes + (octet_length(gone.content::text) + octet_length(gone.includes::text) + octet_length(gone.evaluators::text) + octet_length(gone.metadata::text) + 1024)) from gone
        where workspace_id <> '00000000-0000-0000-0000-000000000000' group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "evaluations" referencing old table as gone for each statement execute function "evaluations_storage_of_delete_fn"();`,
    );
    this.addSql(`create or replace function "evaluations_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select * from (values (old.workspace_id, 'runs', -old.result_bytes), (new.workspace_id, 'runs', new.result_bytes),
          (old.workspace_id, 'runs', case when old.workspace_id = new.workspace_id then 0 else -(octet_length(old.content::text) + octet_length(old.includes::text) + octet_length(old.evaluators::text) + octet_length(old.metadata::text) + 1024) end))
        as change(workspace_id, kind, bytes) where workspace_id <> '00000000-0000-0000-0000-000000000000' and bytes <> 0; return null; end $$;`);

    this.addSql(`create or replace function "idempotency_keys_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', coalesce(octet_length(new.answer) + 1024, 0) - coalesce(octet_length(old.answer) + 1024, 0)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "idempotency_keys" for each row when (coalesce(octet_length(old.answer) + 1024, 0) <> coalesce(octet_length(new.answer) + 1024, 0)) execute function "idempotency_keys_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "idempotency_keys_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum(coalesce(octet_length(gone.answer) + 1024, 0)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "idempotency_keys" referencing old table as gone for each statement execute function "idempotency_keys_storage_of_delete_fn"();`,
    );

    this.addSql(`create or replace function "releases_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "releases" for each row execute function "releases_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "releases_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024) - (old.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "releases" for each row when ((old.bytes + 1024) <> (new.bytes + 1024)) execute function "releases_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "releases_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((gone.bytes + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "releases" referencing old table as gone for each statement execute function "releases_storage_of_delete_fn"();`,
    );

    this.addSql(`create or replace function "rule_backfills_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "rule_backfills" for each row execute function "rule_backfills_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "rule_backfills_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024) - (old.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "rule_backfills" for each row when ((old.bytes + 1024) <> (new.bytes + 1024)) execute function "rule_backfills_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "rule_backfills_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((gone.bytes + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "rule_backfills" referencing old table as gone for each statement execute function "rule_backfills_storage_of_delete_fn"();`,
    );

    this.addSql(`create or replace function "rule_judgements_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum((coalesce(octet_length(made.answer), 0) + 1024)) from made group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "rule_judgements" referencing new table as made for each statement execute function "rule_judgements_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "rule_judgements_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum(bytes) from (
        select workspace_id, (coalesce(octet_length(made.answer), 0) + 1024) as bytes from made union all select workspace_id, -(coalesce(octet_length(gone.answer), 0) + 1024) from gone
      ) as change group by workspace_id having sum(bytes) <> 0; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "rule_judgements" referencing old table as gone new table as made for each statement execute function "rule_judgements_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "rule_judgements_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((coalesce(octet_length(gone.answer), 0) + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "rule_judgements" referencing old table as gone for each statement execute function "rule_judgements_storage_of_delete_fn"();`,
    );

    // By hand: counts existing rows. Creating the triggers blocks writers until this has ended.
    this.addSql(
      `update "dataset_versions" set "bytes" = "sums"."bytes" from (select "dataset_version_id", sum("bytes") as "bytes" from "dataset_examples" where "dataset_version_id" in (select "id" from "dataset_versions" where "dataset_id" is null and "bytes" = 0) group by "dataset_version_id") as "sums" where "sums"."dataset_version_id" = "dataset_versions"."id";`,
    );
    this.addSql(
      `insert into "storage_entries" ("workspace_id", "kind", "bytes")
        select "workspace_id", 'runs', sum(octet_length("content"::text) + octet_length("includes"::text) + octet_length("evaluators"::text) + octet_length("metadata"::text) + 1024) from "evaluations" where "workspace_id" <> '00000000-0000-0000-0000-000000000000' group by "workspace_id"
        union all select "workspace_id", 'runs', sum("bytes" + 1024) from "releases" group by "workspace_id"
        union all select "workspace_id", 'runs', sum("bytes" + 1024) from "rule_backfills" group by "workspace_id"
        union all select "workspace_id", 'runs', sum(coalesce(octet_length("answer"), 0) + 1024) from "rule_judgements" group by "workspace_id"
        union all select "workspace_id", 'runs', sum(octet_length("answer") + 1024) from "idempotency_keys" where "answer" is not null group by "workspace_id"
        union all select "workspace_id", 'runs', count(*) * 4096 from "deliveries" group by "workspace_id";`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "storage_of_insert" on "deliveries";`);
    this.addSql(`drop function if exists "deliveries_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "deliveries";`);
    this.addSql(`drop function if exists "deliveries_storage_of_delete_fn"();`);

    this.addSql(`drop trigger if exists "storage_of_insert" on "evaluations";`);
    this.addSql(`drop function if exists "evaluations_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "evaluations";`);
    this.addSql(`drop function if exists "evaluations_storage_of_delete_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "evaluations";`);
    this.addSql(`drop function if exists "evaluations_storage_of_update_fn"();`);
    this.addSql(`create or replace function "evaluations_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select * from (values (old.workspace_id, 'runs', -old.result_bytes), (new.workspace_id, 'runs', new.result_bytes))
        as change(workspace_id, kind, bytes) where workspace_id <> '00000000-0000-0000-0000-000000000000'; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "evaluations" for each row when (old.result_bytes is distinct from new.result_bytes or old.workspace_id is distinct from new.workspace_id) execute function "evaluations_storage_of_update_fn"();`,
    );

    this.addSql(`drop trigger if exists "storage_of_update" on "idempotency_keys";`);
    this.addSql(`drop function if exists "idempotency_keys_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "idempotency_keys";`);
    this.addSql(`drop function if exists "idempotency_keys_storage_of_delete_fn"();`);

    this.addSql(`drop trigger if exists "storage_of_insert" on "releases";`);
    this.addSql(`drop function if exists "releases_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "releases";`);
    this.addSql(`drop function if exists "releases_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "releases";`);
    this.addSql(`drop function if exists "releases_storage_of_delete_fn"();`);

    this.addSql(`drop trigger if exists "storage_of_insert" on "rule_backfills";`);
    this.addSql(`drop function if exists "rule_backfills_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "rule_backfills";`);
    this.addSql(`drop function if exists "rule_backfills_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "rule_backfills";`);
    this.addSql(`drop function if exists "rule_backfills_storage_of_delete_fn"();`);

    this.addSql(`drop trigger if exists "storage_of_insert" on "rule_judgements";`);
    this.addSql(`drop function if exists "rule_judgements_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "rule_judgements";`);
    this.addSql(`drop function if exists "rule_judgements_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "rule_judgements";`);
    this.addSql(`drop function if exists "rule_judgements_storage_of_delete_fn"();`);
  }
}
