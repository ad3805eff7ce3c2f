import { Migration } from '@mikro-orm/migrations';

/**
 * Triggers of scores stay; only their functions change, so that writers need not wait. A candidate that is a trace has no execution:
 * the release before drops it.
 */
export class Migration20261127185000_traces_in_queues extends Migration {
  override name = 'Migration20261127185000_traces_in_queues';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "queues" add "trace_filter" jsonb null;`);
    this.addSql(`alter table "queue_items" add "trace_id" uuid null;`);
    this.addSql(`alter table "queue_items" add "span_id" text null;`);
    this.addSql(`alter table "queue_candidates" add "trace_id" uuid null;`);
    this.addSql(
      `-- squawk-ignore ban-drop-not-null\nalter table "queue_candidates" alter column "execution_id" drop not null;`,
    );
    this.addSql(`create or replace function "scores_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id, trace_id) select distinct made.workspace_id, made.execution_id, made.trace_id from made
      where (made.execution_id is not null and exists (select from queues where queues.workspace_id = made.workspace_id and queues.filter is not null)) or (made.trace_id is not null and exists (select from queues where queues.workspace_id = made.workspace_id and queues.trace_filter is not null)); return null; end $$;`);
    this.addSql(`create or replace function "scores_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id, trace_id) select distinct made.workspace_id, made.execution_id, made.trace_id from made
      where (made.execution_id is not null and exists (select from queues where queues.workspace_id = made.workspace_id and queues.filter is not null)) or (made.trace_id is not null and exists (select from queues where queues.workspace_id = made.workspace_id and queues.trace_filter is not null)); return null; end $$;`);
    this.addSql(`create or replace function "traces_queue_items_of_delete_fn"() returns trigger language plpgsql as $$ begin
      delete from queue_items using gone where queue_items.workspace_id = gone.workspace_id and queue_items.trace_id = gone.id; return null; end $$;`);
    this.addSql(
      `create trigger "queue_items_of_delete" after delete on "traces" referencing old table as gone for each statement execute function "traces_queue_items_of_delete_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`delete from "queue_candidates" where "execution_id" is null;`);
    this.addSql(`alter table "queues" drop column "trace_filter";`);
    this.addSql(`alter table "queue_items" drop column "trace_id";`);
    this.addSql(`alter table "queue_items" drop column "span_id";`);
    this.addSql(`alter table "queue_candidates" drop column "trace_id";`);
    this.addSql(`alter table "queue_candidates" alter column "execution_id" set not null;`);
    this.addSql(`create or replace function "scores_queues_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct made.workspace_id, made.execution_id from made
      where made.execution_id is not null and exists (select from queues where queues.workspace_id = made.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(`create or replace function "scores_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into queue_candidates (workspace_id, execution_id) select distinct made.workspace_id, made.execution_id from made
      where made.execution_id is not null and exists (select from queues where queues.workspace_id = made.workspace_id and queues.filter is not null); return null; end $$;`);
    this.addSql(`drop trigger if exists "queue_items_of_delete" on "traces";`);
    this.addSql(`drop function if exists "traces_queue_items_of_delete_fn"();`);
  }
}
