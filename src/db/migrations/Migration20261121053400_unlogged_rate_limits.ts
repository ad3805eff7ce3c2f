import { Migration } from '@mikro-orm/migrations';

/** Counters of the last minute need not survive a crash, and are written often: no write-ahead log for them. */
export class Migration20261121053400_unlogged_rate_limits extends Migration {
  override name = 'Migration20261121053400_unlogged_rate_limits';

  override up(): void {
    this.addSql('alter table "rate_limits" set unlogged;');
  }

  override down(): void {
    this.addSql('alter table "rate_limits" set logged;');
  }
}
