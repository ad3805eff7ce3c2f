import { Migration } from '@mikro-orm/migrations';

export class Migration20261122130200_evaluation_reuse extends Migration {
  override name = 'Migration20261122130200_evaluation_reuse';

  override up(): void | Promise<void> {
    this.addSql(`alter table "evaluations" add "reuse_max_age" int null;`);

    this.addSql(`alter table "evaluation_results" add "call_hash" bytea null, add "reused_from" text null;`);
    this.addSql(
      `create index "evaluation_results_call_hash_index" on "evaluation_results" ("call_hash") where "call_hash" is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "evaluation_results_call_hash_index";`);
    this.addSql(`alter table "evaluation_results" drop column "call_hash", drop column "reused_from";`);

    this.addSql(`alter table "evaluations" drop column "reuse_max_age";`);
  }
}
