import { Migration } from '@mikro-orm/migrations';

export class Migration20261125054819_fewer_entries_and_calls_of_triggers extends Migration {
  override name = 'Migration20261125054819_fewer_entries_and_calls_of_triggers';

  override up(): void | Promise<void> {
    this.addSql(`drop trigger if exists "queues_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_queues_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_queues_of_update_fn"();`);
    this.addSql(`drop trigger if exists "rules_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_rules_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "rules_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_rules_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_delete_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_update_fn"();`);
    this.addSql(`create or replace function "executions_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      if exists (select from queues where queues.workspace_id = new.workspace_id and queues.filter is not null) then insert into queue_candidates (workspace_id, execution_id) values (new.workspace_id, new.id); end if; return null; end $$;`);
    this.addSql(`create trigger "queues_of_insert" after insert on "executions" for each row when (new.status in ('completed', 'failed', 'canceled'))
      execute function "executions_queues_of_insert_fn"();`);
    this.addSql(`create or replace function "executions_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      if exists (select from queues where queues.workspace_id = new.workspace_id and queues.filter is not null) then insert into queue_candidates (workspace_id, execution_id) values (new.workspace_id, new.id); end if; return null; end $$;`);
    this.addSql(`create trigger "queues_of_update" after update on "executions" for each row when (new.status in ('completed', 'failed', 'canceled') and old.status is distinct from new.status)
      execute function "executions_queues_of_update_fn"();`);
    this.addSql(`create or replace function "executions_rules_of_insert_fn"() returns trigger language plpgsql as $$ begin
      if not exists (select from rules where workspace_id = new.workspace_id and enabled) then return null; end if;       insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);
    this.addSql(`create trigger "rules_of_insert" after insert on "executions" for each row when (new.status in ('completed') and new.reused_from is null and (new.prompt_version is not null or new.recorded))
      execute function "executions_rules_of_insert_fn"();`);
    this.addSql(`create or replace function "executions_rules_of_update_fn"() returns trigger language plpgsql as $$ begin
      if not exists (select from rules where workspace_id = new.workspace_id and enabled) then return null; end if;       insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);
    this.addSql(`create trigger "rules_of_update" after update on "executions" for each row when (new.status in ('completed') and new.reused_from is null and (new.prompt_version is not null or new.recorded) and old.status is distinct from new.status)
      execute function "executions_rules_of_update_fn"();`);
    this.addSql(`create or replace function "executions_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((gone.bytes + 1024 - case when gone.finished_at is null then octet_length(gone.calls::text) else 0 end)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "executions" referencing old table as gone for each statement execute function "executions_storage_of_delete_fn"();`,
    );
    this.addSql(`create or replace function "executions_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024 - case when new.finished_at is null then octet_length(new.calls::text) else 0 end)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "executions" for each row execute function "executions_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "executions_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024 - case when new.finished_at is null then octet_length(new.calls::text) else 0 end) - (old.bytes + 1024 - case when old.finished_at is null then octet_length(old.calls::text) else 0 end)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "executions" for each row when ((old.bytes + 1024 - case when old.finished_at is null then octet_length(old.calls::text) else 0 end) <> (new.bytes + 1024 - case when new.finished_at is null then octet_length(new.calls::text) else 0 end)) execute function "executions_storage_of_update_fn"();`,
    );

    this.addSql(`drop trigger if exists "queues_of_insert" on "scores";`);
    this.addSql(`drop function if exists "scores_queues_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_update" on "scores";`);
    this.addSql(`drop function if exists "scores_queues_of_update_fn"();`);
    this.addSql(`create or replace function "scores_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct made.workspace_id, made.execution_id from made
      where made.execution_id is not null and exists (select from queues where queues.workspace_id = made.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(
      `create trigger "queues_of_insert" after insert on "scores" referencing new table as made for each statement execute function "scores_queues_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "scores_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct made.workspace_id, made.execution_id from made
      where made.execution_id is not null and exists (select from queues where queues.workspace_id = made.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(
      `create trigger "queues_of_update" after update on "scores" referencing new table as made for each statement execute function "scores_queues_of_update_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop trigger if exists "storage_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "executions";`);
    this.addSql(`drop function if exists "executions_storage_of_delete_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_queues_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_queues_of_update_fn"();`);
    this.addSql(`drop trigger if exists "rules_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_rules_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "rules_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_rules_of_update_fn"();`);
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
    this.addSql(`create or replace function "executions_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.id from (select new.workspace_id, new.id) as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(`create trigger "queues_of_insert" after insert on "executions" for each row when (new.status in ('completed', 'failed', 'canceled'))
      execute function "executions_queues_of_insert_fn"();`);
    this.addSql(`create or replace function "executions_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.id from (select new.workspace_id, new.id) as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(`create trigger "queues_of_update" after update on "executions" for each row when (new.status in ('completed', 'failed', 'canceled') and old.status is distinct from new.status)
      execute function "executions_queues_of_update_fn"();`);
    this.addSql(`create or replace function "executions_rules_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);
    this.addSql(`create trigger "rules_of_insert" after insert on "executions" for each row when (new.status in ('completed') and new.reused_from is null and (new.prompt_version is not null or new.recorded))
      execute function "executions_rules_of_insert_fn"();`);
    this.addSql(`create or replace function "executions_rules_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and (r.sample_rate >= 1 or ('x' || left(encode(sha256(convert_to(r.id || ':' || new.id, 'UTF8')), 'hex'), 8))::bit(32)::bigint < r.sample_rate * 4294967296); return null; end $$;`);
    this.addSql(`create trigger "rules_of_update" after update on "executions" for each row when (new.status in ('completed') and new.reused_from is null and (new.prompt_version is not null or new.recorded) and old.status is distinct from new.status)
      execute function "executions_rules_of_update_fn"();`);

    this.addSql(`drop trigger if exists "queues_of_insert" on "scores";`);
    this.addSql(`drop function if exists "scores_queues_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_update" on "scores";`);
    this.addSql(`drop function if exists "scores_queues_of_update_fn"();`);
    this.addSql(`create or replace function "scores_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.execution_id from made as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null) and found.execution_id is not null; return null; end $$;`);
    this.addSql(
      `create trigger "queues_of_insert" after insert on "scores" referencing new table as made for each statement execute function "scores_queues_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "scores_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.execution_id from made as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null) and found.execution_id is not null; return null; end $$;`);
    this.addSql(
      `create trigger "queues_of_update" after update on "scores" referencing new table as made for each statement execute function "scores_queues_of_update_fn"();`,
    );
  }
}
