import { Migration } from '@mikro-orm/migrations';

/** An index of a large table, and the check of a constraint that was added before. */
export class GoodOutsideOfATransaction extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`drop index concurrently if exists "executions_badge_id_index";`);
    this.addSql(`create index concurrently "executions_badge_id_index" on "executions" ("badge_id");`);
    this.addSql(`alter table "executions" validate constraint "executions_badge_id_foreign";`);
  }
}
