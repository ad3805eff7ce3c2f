import { Migration } from '@mikro-orm/migrations';

export class Migration20261127180736_evaluations_of_executions extends Migration {
  override name = 'Migration20261127180736_evaluations_of_executions';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "evaluations" add "from_executions" jsonb null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "evaluations" drop column "from_executions";`);
  }
}
