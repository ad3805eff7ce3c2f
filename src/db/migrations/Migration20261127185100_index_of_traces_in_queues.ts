import { Migration } from '@mikro-orm/migrations';

/** Not in a transaction: `queue_items` can be large, and writers must not wait. */
export class Migration20261127185100_index_of_traces_in_queues extends Migration {
  override name = 'Migration20261127185100_index_of_traces_in_queues';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "queue_items_trace_index";`);
    this.addSql(
      `create unique index concurrently "queue_items_trace_index" on "queue_items" ("workspace_id", "trace_id", "span_id", "queue_id") nulls not distinct where "trace_id" is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "queue_items_trace_index";`);
  }
}
