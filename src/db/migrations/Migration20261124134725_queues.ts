import { Migration } from '@mikro-orm/migrations';

export class Migration20261124134725_queues extends Migration {
  override name = 'Migration20261124134725_queues';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "queues" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "description" text null, "score_names" text[] not null, "filter" jsonb null, "sample_rate" double precision not null, "reviewers_per_item" int not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "queues" add constraint "queues_workspace_id_name_unique" unique ("workspace_id", "name");`,
    );

    this.addSql(
      `create table "queue_candidates" ("id" bigserial primary key, "workspace_id" uuid not null, "execution_id" uuid not null);`,
    );
    this.addSql(`create index "queue_candidates_workspace_id_id_index" on "queue_candidates" ("workspace_id", "id");`);

    this.addSql(
      `create table "queue_items" ("id" uuid not null, "workspace_id" uuid not null, "queue_id" uuid not null, "execution_id" uuid null, "evaluation_id" uuid null, "example_id" text null, "completed" int not null default 0, "skipped" int not null default 0, "completed_at" timestamptz(3) null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create index "queue_items_workspace_id_index" on "queue_items" ("workspace_id");`);
    this.addSql(`create index "queue_items_queue_id_id_index" on "queue_items" ("queue_id", "id");`);
    this.addSql(
      `create index "queue_items_open_index" on "queue_items" ("queue_id", "id") where "completed_at" is null;`,
    );
    this.addSql(
      `create unique index "queue_items_execution_index" on "queue_items" ("execution_id", "queue_id") where "execution_id" is not null;`,
    );
    this.addSql(
      `create unique index "queue_items_example_index" on "queue_items" ("evaluation_id", "example_id", "queue_id") where "evaluation_id" is not null;`,
    );

    this.addSql(
      `create table "queue_reviews" ("item_id" uuid not null, "reviewer" text not null, "workspace_id" uuid not null, "queue_id" uuid not null, "leased_until" timestamptz(3) not null, "outcome" text null, "ended_at" timestamptz(3) null, "score_ids" uuid[] not null default '{}', "request_hash" bytea null, "correction" jsonb null, primary key ("item_id", "reviewer"));`,
    );
    this.addSql(`create index "queue_reviews_workspace_id_index" on "queue_reviews" ("workspace_id");`);
    this.addSql(
      `create index "queue_reviews_leased_index" on "queue_reviews" ("queue_id", "reviewer") where "outcome" is null;`,
    );
    this.addSql(`create index "queue_reviews_queue_id_ended_at_index" on "queue_reviews" ("queue_id", "ended_at");`);

    this.addSql(`create or replace function "evaluations_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      delete from queue_items where evaluation_id = new.id; return null; end $$;`);
    this.addSql(`create trigger "queues_of_update" after update on "evaluations" for each row when (old.workspace_id is distinct from new.workspace_id)
      execute function "evaluations_queues_of_update_fn"();`);

    this.addSql(`create or replace function "executions_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.id from made as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null) and found.status in ('completed', 'failed', 'canceled'); return null; end $$;`);
    this.addSql(
      `create trigger "queues_of_insert" after insert on "executions" referencing new table as made for each statement execute function "executions_queues_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "executions_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct found.workspace_id, found.id from (select new.workspace_id, new.id) as found
      where exists (select from queues where queues.workspace_id = found.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(`create trigger "queues_of_update" after update on "executions" for each row when (new.status in ('completed', 'failed', 'canceled') and old.status is distinct from new.status)
      execute function "executions_queues_of_update_fn"();`);

    this.addSql(
      `create index "scores_people_index" on "scores" ("workspace_id", "name", "created_at", "id") where "source" in ('person', 'feedback');`,
    );
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

    this.addSql(
      `alter table "queue_items" add constraint "queue_items_queue_id_foreign" foreign key ("queue_id") references "queues" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "queue_items" add constraint "queue_items_execution_id_foreign" foreign key ("execution_id") references "executions" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "queue_items" add constraint "queue_items_evaluation_id_foreign" foreign key ("evaluation_id") references "evaluations" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "queue_reviews" add constraint "queue_reviews_item_id_foreign" foreign key ("item_id") references "queue_items" ("id") on delete cascade;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "queue_items" drop constraint "queue_items_queue_id_foreign";`);
    this.addSql(`alter table "queue_reviews" drop constraint "queue_reviews_item_id_foreign";`);

    this.addSql(`drop table if exists "queues" cascade;`);
    this.addSql(`drop table if exists "queue_candidates" cascade;`);
    this.addSql(`drop table if exists "queue_items" cascade;`);
    this.addSql(`drop table if exists "queue_reviews" cascade;`);

    this.addSql(`drop trigger if exists "queues_of_update" on "evaluations";`);
    this.addSql(`drop function if exists "evaluations_queues_of_update_fn"();`);

    this.addSql(`drop trigger if exists "queues_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_queues_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_update" on "executions";`);
    this.addSql(`drop function if exists "executions_queues_of_update_fn"();`);

    this.addSql(`drop index "scores_people_index";`);
    this.addSql(`drop trigger if exists "queues_of_insert" on "scores";`);
    this.addSql(`drop function if exists "scores_queues_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "queues_of_update" on "scores";`);
    this.addSql(`drop function if exists "scores_queues_of_update_fn"();`);
  }
}
