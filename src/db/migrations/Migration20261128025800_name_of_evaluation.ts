import { Migration } from '@mikro-orm/migrations';

export class Migration20261128025800_name_of_evaluation extends Migration {
  override name = 'Migration20261128025800_name_of_evaluation';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "evaluations" add "name" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "evaluations" drop column "name";`);
  }
}
