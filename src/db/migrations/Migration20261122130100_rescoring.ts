import { Migration } from '@mikro-orm/migrations';

export class Migration20261122130100_rescoring extends Migration {
  override name = 'Migration20261122130100_rescoring';

  override up(): void | Promise<void> {
    this.addSql(`alter table "evaluations" add "source_evaluation_id" uuid null;`);

    this.addSql(`alter table "evaluation_results" add "source_cost" numeric null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "evaluation_results" drop column "source_cost";`);

    this.addSql(`alter table "evaluations" drop column "source_evaluation_id";`);
  }
}
