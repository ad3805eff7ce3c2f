import { Migration } from '@mikro-orm/migrations';

/** Not in a transaction: the tables can be large, and writers must not wait. */
export class Migration20261127181500_indexes_of_traces_in_rules extends Migration {
  override name = 'Migration20261127181500_indexes_of_traces_in_rules';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "rule_items_trace_index";`);
    this.addSql(
      `create index concurrently "rule_items_trace_index" on "rule_items" ("workspace_id", "trace_id") where "trace_id" is not null;`,
    );
    this.addSql(`drop index concurrently if exists "traces_completed_index";`);
    this.addSql(
      `create index concurrently "traces_completed_index" on "traces" ("workspace_id", "completed_at") where "completed_at" is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "rule_items_trace_index";`);
    this.addSql(`drop index concurrently if exists "traces_completed_index";`);
  }
}
