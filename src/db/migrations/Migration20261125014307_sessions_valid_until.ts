import { Migration } from '@mikro-orm/migrations';

export class Migration20261125014307_sessions_valid_until extends Migration {
  override name = 'Migration20261125014307_sessions_valid_until';

  override up(): void | Promise<void> {
    this.addSql(`alter table "sessions" add "valid_until" timestamptz(3) null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "sessions" drop column "valid_until";`);
  }
}
