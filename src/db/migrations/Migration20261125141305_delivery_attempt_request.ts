import { Migration } from '@mikro-orm/migrations';

export class Migration20261125141305_delivery_attempt_request extends Migration {
  override name = 'Migration20261125141305_delivery_attempt_request';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "delivery_attempts" add "request" json null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "delivery_attempts" drop column "request";`);
  }
}
