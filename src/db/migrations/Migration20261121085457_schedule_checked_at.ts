import { Migration } from '@mikro-orm/migrations';

export class Migration20261121085457_schedule_checked_at extends Migration {
  override name = 'Migration20261121085457_schedule_checked_at';

  override up(): void | Promise<void> {
    this.addSql(`alter table "schedules" add "checked_at" timestamptz(3) null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "schedules" drop column "checked_at";`);
  }
}
