import { Migration } from '@mikro-orm/migrations';

export class Migration20261121060749_schedule_last_error extends Migration {
  override name = 'Migration20261121060749_schedule_last_error';

  override up(): void | Promise<void> {
    this.addSql(`alter table "schedules" add "last_error" jsonb null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "schedules" drop column "last_error";`);
  }
}
