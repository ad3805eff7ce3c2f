import { Migration } from '@mikro-orm/migrations';

/** The columns that tell which rows are due: a few, whatever their current share of the table. */
const COLUMNS = [
  ['events', 'dispatched_at'],
  ['deliveries', 'started_at'],
] as const;

/**
 * With statistics collected while many rows are due, PostgreSQL would search the whole table for the next ones, even after the last one
 * is gone. Without statistics it assumes that one row in two hundred is due, and uses the indexes of due rows.
 */
export class Migration20261125171500_statistics_of_queues extends Migration {
  override name = 'Migration20261125171500_statistics_of_queues';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    for (const [table, column] of COLUMNS) {
      this.addSql(`alter table "${table}" alter column "${column}" set statistics 0;`);
      this.addSql(`select pg_clear_attribute_stats('public', '${table}', '${column}', false);`);
    }
  }

  override down(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    for (const [table, column] of COLUMNS)
      this.addSql(`alter table "${table}" alter column "${column}" set statistics default;`);
  }
}
