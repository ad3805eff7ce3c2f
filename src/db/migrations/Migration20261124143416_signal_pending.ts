import { Migration } from '@mikro-orm/migrations';

export class Migration20261124143416_signal_pending extends Migration {
  override name = 'Migration20261124143416_signal_pending';

  override up(): void | Promise<void> {
    this.addSql(`alter table "evaluations" rename column "untold" to "signal_pending";`);

    this.addSql(`alter table "releases" rename column "untold" to "signal_pending";`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "evaluations" rename column "signal_pending" to "untold";`);

    this.addSql(`alter table "releases" rename column "signal_pending" to "untold";`);
  }
}
