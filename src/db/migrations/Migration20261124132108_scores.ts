import { Migration } from '@mikro-orm/migrations';

export class Migration20261124132108_scores extends Migration {
  override name = 'Migration20261124132108_scores';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "release_score_entries" ("id" bigserial primary key, "workspace_id" uuid not null, "release_id" uuid not null, "stage" int not null, "arm" text not null, "created_at" timestamptz(3) not null, "name" text not null, "count" int not null, "total" double precision not null, "squares" double precision not null);`,
    );
    this.addSql(`create index "release_score_entries_release_id_index" on "release_score_entries" ("release_id");`);
    this.addSql(`create index "release_score_entries_workspace_id_index" on "release_score_entries" ("workspace_id");`);

    this.addSql(
      `create table "scores" ("workspace_id" uuid not null, "id" uuid not null, "name" text not null, "data_type" text not null, "number" double precision null, "text" text null, "execution_id" uuid null, "evaluation_id" uuid null, "example_id" text null, "source" text not null, "author" text null, "rule" text null, "evaluator_version" text null, "evaluator_model" text null, "comment" text null, "metadata" jsonb not null default '{}', "prompt_name" text null, "prompt_version" int null, "label" text null, "model" text null, "release_id" uuid null, "arm" text null, "release_stage" int null, "subject_at" timestamptz(3) not null, "bytes" int generated always as (COALESCE(octet_length(name), 0) + COALESCE(octet_length(text), 0) + COALESCE(octet_length(comment), 0) + COALESCE(octet_length((metadata)::text), 0) + COALESCE(octet_length(example_id), 0)) stored not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("workspace_id", "id"));`,
    );
    this.addSql(
      `create index "scores_workspace_id_created_at_id_index" on "scores" ("workspace_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "scores_workspace_id_name_created_at_id_index" on "scores" ("workspace_id", "name", "created_at", "id");`,
    );
    this.addSql(
      `create index "scores_workspace_id_prompt_name_created_at_id_index" on "scores" ("workspace_id", "prompt_name", "created_at", "id");`,
    );
    this.addSql(
      `create index "scores_rule_index" on "scores" ("workspace_id", "rule", "created_at", "id") where "rule" is not null;`,
    );
    this.addSql(
      `create index "scores_execution_index" on "scores" ("workspace_id", "execution_id", "created_at", "id") where "execution_id" is not null;`,
    );
    this.addSql(
      `create index "scores_name_execution_index" on "scores" ("workspace_id", "name", "execution_id") where "execution_id" is not null;`,
    );
    this.addSql(
      `create index "scores_evaluation_index" on "scores" ("evaluation_id", "example_id", "created_at", "id") where "evaluation_id" is not null;`,
    );

    this.addSql(
      `create table "score_definitions" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "data_type" text not null, "min" double precision null, "max" double precision null, "categories" jsonb null, "description" text null, "defined" boolean not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "score_definitions" add constraint "score_definitions_workspace_id_name_unique" unique ("workspace_id", "name");`,
    );

    this.addSql(`alter table "executions" add "label" text null;`);
    this.addSql(`create or replace function "executions_scores_of_delete_fn"() returns trigger language plpgsql as $$ begin
      delete from scores using gone where scores.workspace_id = gone.workspace_id and scores.execution_id = gone.id; return null; end $$;`);
    this.addSql(
      `create trigger "scores_of_delete" after delete on "executions" referencing old table as gone for each statement execute function "executions_scores_of_delete_fn"();`,
    );

    this.addSql(`create or replace function "scores_release_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
      select workspace_id, release_id, stage, arm, subject_at, name, sum(n), sum(total), sum(squares) from (select workspace_id, release_id, release_stage as stage, arm, subject_at, name, 1 as n, 1 * number as total, 1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from made where release_stage is not null and number is not null) as entry
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 or sum(total) <> 0 or sum(squares) <> 0; return null; end $$;`);
    this.addSql(
      `create trigger "release_of_insert" after insert on "scores" referencing new table as made for each statement execute function "scores_release_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "scores_release_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
      select workspace_id, release_id, stage, arm, subject_at, name, sum(n), sum(total), sum(squares) from (select workspace_id, release_id, release_stage as stage, arm, subject_at, name, 1 as n, 1 * number as total, 1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from made where release_stage is not null and number is not null union all select workspace_id, release_id, release_stage as stage, arm, subject_at, name, -1 as n, -1 * number as total, -1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from gone where release_stage is not null and number is not null) as entry
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 or sum(total) <> 0 or sum(squares) <> 0; return null; end $$;`);
    this.addSql(
      `create trigger "release_of_update" after update on "scores" referencing old table as gone new table as made for each statement execute function "scores_release_of_update_fn"();`,
    );
    this.addSql(`create or replace function "scores_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum((made.bytes + 1024)) from made group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "scores" referencing new table as made for each statement execute function "scores_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "scores_storage_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum(bytes) from (
        select workspace_id, (made.bytes + 1024) as bytes from made union all select workspace_id, -(gone.bytes + 1024) from gone
      ) as change group by workspace_id having sum(bytes) <> 0; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_update" after update on "scores" referencing old table as gone new table as made for each statement execute function "scores_storage_of_update_fn"();`,
    );
    this.addSql(`create or replace function "scores_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum((gone.bytes + 1024)) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "scores" referencing old table as gone for each statement execute function "scores_storage_of_delete_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "release_score_entries" cascade;`);
    this.addSql(`drop trigger if exists "release_of_insert" on "scores";`);
    this.addSql(`drop function if exists "scores_release_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "release_of_update" on "scores";`);
    this.addSql(`drop function if exists "scores_release_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_insert" on "scores";`);
    this.addSql(`drop function if exists "scores_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_update" on "scores";`);
    this.addSql(`drop function if exists "scores_storage_of_update_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "scores";`);
    this.addSql(`drop function if exists "scores_storage_of_delete_fn"();`);
    this.addSql(`drop table if exists "scores" cascade;`);
    this.addSql(`drop table if exists "score_definitions" cascade;`);

    this.addSql(`drop trigger if exists "scores_of_delete" on "executions";`);
    this.addSql(`drop function if exists "executions_scores_of_delete_fn"();`);
    this.addSql(`alter table "executions" drop column "label";`);
  }
}
