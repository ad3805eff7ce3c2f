import { Migration } from '@mikro-orm/migrations';

export class Migration20261125094707_evaluations_of_code extends Migration {
  override name = 'Migration20261125094707_evaluations_of_code';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `alter table "evaluations" add "target" text not null default 'prompt', add "results_due_at" timestamptz(3) null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "evaluations" drop column "target", drop column "results_due_at";`);
  }
}
