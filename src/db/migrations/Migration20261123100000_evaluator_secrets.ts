import { Migration } from '@mikro-orm/migrations';

export class Migration20261123100000_evaluator_secrets extends Migration {
  override name = 'Migration20261123100000_evaluator_secrets';

  override up(): void | Promise<void> {
    this.addSql(`alter table "evaluations" add "evaluator_secrets" bytea null;`);
    this.addSql(
      `create index "evaluations_evaluator_secrets_index" on "evaluations" ("id") where "evaluator_secrets" is not null;`,
    );

    this.addSql(`alter table "schedules" add "evaluator_secrets" bytea null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "evaluations_evaluator_secrets_index";`);
    this.addSql(`alter table "evaluations" drop column "evaluator_secrets";`);

    this.addSql(`alter table "schedules" drop column "evaluator_secrets";`);
  }
}
