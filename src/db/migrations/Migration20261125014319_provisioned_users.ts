import { Migration } from '@mikro-orm/migrations';

export class Migration20261125014319_provisioned_users extends Migration {
  override name = 'Migration20261125014319_provisioned_users';

  override up(): void | Promise<void> {
    this.addSql(`alter table "users" add "provisioned" jsonb null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "users" drop column "provisioned";`);
  }
}
