import { Migration } from '@mikro-orm/migrations';

/** Versions, rounds and candidates are counted with integers, as everywhere. */
export class Migration20261127180751_improvements extends Migration {
  override name = 'Migration20261127180751_improvements';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `-- squawk-ignore prefer-bigint-over-int\ncreate table "improvements" ("id" uuid not null, "workspace_id" uuid not null, "prompt_name" text not null, "prompt_version" int not null, "base" jsonb not null, "request" jsonb not null, "evaluators" jsonb not null, "dataset_name" text not null, "dataset_version" int not null, "split" jsonb not null, "status" text not null, "status_reason" text null, "phase" text not null default 'base', "round" int not null default 0, "state" jsonb not null, "max_cost" numeric null, "stop_reason" text null, "verdict" jsonb null, "accepted_version" int null, "accepted_release_id" uuid null, "error" jsonb null, "deadline" timestamptz(3) null, "bytes" int generated always as (COALESCE(octet_length((base)::text), 0) + COALESCE(octet_length((request)::text), 0) + COALESCE(octet_length((evaluators)::text), 0) + COALESCE(octet_length((split)::text), 0) + COALESCE(octet_length((state)::text), 0) + COALESCE(octet_length((verdict)::text), 0)) stored not null, "created_at" timestamptz(3) not null, "finished_at" timestamptz(3) null, "signal_pending" boolean not null default false, "check_at" timestamptz(3) not null default (now() + '00:00:10'::interval), primary key ("id"));`,
    );
    this.addSql(`create index "improvements_workspace_id_id_index" on "improvements" ("workspace_id", "id");`);
    this.addSql(
      `create index "improvements_workspace_id_prompt_name_id_index" on "improvements" ("workspace_id", "prompt_name", "id");`,
    );
    this.addSql(
      `create index "improvements_check_index" on "improvements" ("check_at") where "signal_pending" or status in ('running', 'paused');`,
    );

    this.addSql(
      `-- squawk-ignore prefer-bigint-over-int\ncreate table "improvement_candidates" ("improvement_id" uuid not null, "number" int not null, "workspace_id" uuid not null, "round" int not null, "parent" int null, "kind" text not null, "status" text not null, "content" jsonb null, "change" text null, "diagnosis" jsonb null, "reject" jsonb null, "run" jsonb not null, "bytes" int generated always as (COALESCE(octet_length((content)::text), 0) + COALESCE(octet_length(change), 0) + COALESCE(octet_length((diagnosis)::text), 0) + COALESCE(octet_length((reject)::text), 0) + COALESCE(octet_length((run)::text), 0)) stored not null, "created_at" timestamptz(3) not null, primary key ("improvement_id", "number"));`,
    );
    this.addSql(
      `create index "improvement_candidates_workspace_id_index" on "improvement_candidates" ("workspace_id");`,
    );

    this.addSql(
      `create table "improvement_looks" ("workspace_id" uuid not null, "prompt_name" text not null, "hash" bytea not null, "seen" boolean not null, "looks" bigint not null default '0', primary key ("workspace_id", "prompt_name", "hash"));`,
    );

    this.addSql(`alter table "evaluations" add "improvement_id" uuid null;`);

    this.addSql(
      `alter table "improvements" add constraint "improvements_status_check" check ("status" in ('running', 'paused', 'completed', 'failed', 'canceled'));`,
    );
    this.addSql(`create or replace function "improvements_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "improvements" for each row execute function "improvements_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "improvements_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024) - (old.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "improvements" for each row when ((old.bytes + 1024) <> (new.bytes + 1024)) execute function "improvements_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "improvements_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((gone.bytes + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "improvements" referencing old table as gone for each statement execute function "improvements_storage_of_delete_fn"();`,
    );

    this.addSql(
      `alter table "improvement_candidates" add constraint "improvement_candidates_improvement_id_foreign" foreign key ("improvement_id") references "improvements" ("id") on delete cascade;`,
    );
    this.addSql(`create or replace function "improvement_candidates_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "improvement_candidates" for each row execute function "improvement_candidates_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "improvement_candidates_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) values (new.workspace_id, 'runs', (new.bytes + 1024) - (old.bytes + 1024)); return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "improvement_candidates" for each row when ((old.bytes + 1024) <> (new.bytes + 1024)) execute function "improvement_candidates_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "improvement_candidates_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((gone.bytes + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "improvement_candidates" referencing old table as gone for each statement execute function "improvement_candidates_storage_of_delete_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "improvement_candidates" drop constraint "improvement_candidates_improvement_id_foreign";`,
    );

    this.addSql(`drop trigger if exists "storage_of_insert" on "improvements";`);
    this.addSql(`drop function if exists "improvements_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "improvements";`);
    this.addSql(`drop function if exists "improvements_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "improvements";`);
    this.addSql(`drop function if exists "improvements_storage_of_delete_fn"();`);
    this.addSql(`drop table if exists "improvements" cascade;`);
    this.addSql(`drop trigger if exists "storage_of_insert" on "improvement_candidates";`);
    this.addSql(`drop function if exists "improvement_candidates_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "improvement_candidates";`);
    this.addSql(`drop function if exists "improvement_candidates_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "improvement_candidates";`);
    this.addSql(`drop function if exists "improvement_candidates_storage_of_delete_fn"();`);
    this.addSql(`drop table if exists "improvement_candidates" cascade;`);
    this.addSql(`drop table if exists "improvement_looks" cascade;`);

    this.addSql(`alter table "evaluations" drop column "improvement_id";`);
  }
}
