import { Migration } from '@mikro-orm/migrations';

export class Migration20261125101742_evaluation_example_threshold extends Migration {
  override name = 'Migration20261125101742_evaluation_example_threshold';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "evaluations" add "example_threshold" double precision null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "evaluations" drop column "example_threshold";`);
  }
}
