import { Migration } from '@mikro-orm/migrations';

/** What is due: a few rows, whatever part of the table they are at the moment. */
const COLUMNS = [
  ['events', 'dispatched_at'],
  ['deliveries', 'started_at'],
] as const;

/**
 * Statistics that are taken while many rows are due would make PostgreSQL look for the next ones in the whole table, and go on with it
 * after the last one is gone. Without any it takes one in two hundred to be due, which makes it use the indexes of what is.
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
