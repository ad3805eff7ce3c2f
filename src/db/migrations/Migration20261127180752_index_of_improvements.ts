import { Migration } from '@mikro-orm/migrations';

/** Not in a transaction: `evaluations` can be large, and writers must not wait. */
export class Migration20261127180752_index_of_improvements extends Migration {
  override name = 'Migration20261127180752_index_of_improvements';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "evaluations_improvement_index";`);
    this.addSql(
      `create index concurrently "evaluations_improvement_index" on "evaluations" ("improvement_id", "id") where "improvement_id" is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "evaluations_improvement_index";`);
  }
}
