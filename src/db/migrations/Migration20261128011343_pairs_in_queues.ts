import { Migration } from '@mikro-orm/migrations';

/** The trigger of evaluations stays; only its function changes, so that writers need not wait. */
export class Migration20261128011343_pairs_in_queues extends Migration {
  override name = 'Migration20261128011343_pairs_in_queues';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "queue_items" add "other_execution_id" uuid null, add "other_evaluation_id" uuid null;`);
    this.addSql(
      `alter table "queue_items" add constraint "queue_items_other_execution_id_foreign" foreign key ("other_execution_id") references "executions" ("id") on delete cascade not valid;`,
    );
    this.addSql(
      `alter table "queue_items" add constraint "queue_items_other_evaluation_id_foreign" foreign key ("other_evaluation_id") references "evaluations" ("id") on delete cascade not valid;`,
    );
    this.addSql(`create or replace function "evaluations_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      delete from queue_items where evaluation_id = new.id or other_evaluation_id = new.id; return null; end $$;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`create or replace function "evaluations_queues_of_update_fn"() returns trigger language plpgsql as $$ begin
      delete from queue_items where evaluation_id = new.id; return null; end $$;`);
    // Also drops the constraints.
    this.addSql(`alter table "queue_items" drop column "other_execution_id", drop column "other_evaluation_id";`);
  }
}
