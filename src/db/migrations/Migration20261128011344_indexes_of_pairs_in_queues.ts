import { Migration } from '@mikro-orm/migrations';

const CREATED = {
  queue_items_executions_index: `create unique index concurrently "queue_items_executions_index" on "queue_items" ("execution_id", "queue_id", "other_execution_id") nulls not distinct where "execution_id" is not null;`,
  queue_items_examples_index: `create unique index concurrently "queue_items_examples_index" on "queue_items" ("evaluation_id", "example_id", "queue_id", "other_evaluation_id") nulls not distinct where "evaluation_id" is not null;`,
  queue_items_other_execution_index: `create index concurrently "queue_items_other_execution_index" on "queue_items" ("other_execution_id") where "other_execution_id" is not null;`,
  queue_items_other_evaluation_index: `create index concurrently "queue_items_other_evaluation_index" on "queue_items" ("other_evaluation_id") where "other_evaluation_id" is not null;`,
};
const DROPPED = {
  queue_items_execution_index: `create unique index concurrently "queue_items_execution_index" on "queue_items" ("execution_id", "queue_id") where "execution_id" is not null;`,
  queue_items_example_index: `create unique index concurrently "queue_items_example_index" on "queue_items" ("evaluation_id", "example_id", "queue_id") where "evaluation_id" is not null;`,
};

/** Not in a transaction: `queue_items` can be large, and writers must not wait. */
export class Migration20261128011344_indexes_of_pairs_in_queues extends Migration {
  override name = 'Migration20261128011344_indexes_of_pairs_in_queues';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.#replace(CREATED, DROPPED);
    this.addSql(`alter table "queue_items" validate constraint "queue_items_other_execution_id_foreign";`);
    this.addSql(`alter table "queue_items" validate constraint "queue_items_other_evaluation_id_foreign";`);
  }

  override down(): void | Promise<void> {
    this.#replace(DROPPED, CREATED);
  }

  #replace(wanted: Record<string, string>, unwanted: Record<string, string>): void {
    for (const [name, create] of Object.entries(wanted)) {
      this.addSql(`drop index concurrently if exists "${name}";`);
      this.addSql(create);
    }
    for (const name of Object.keys(unwanted)) this.addSql(`drop index concurrently if exists "${name}";`);
  }
}
