import { Migration } from '@mikro-orm/migrations';

/** Changes that are not allowed while the previous release runs. */
export class Bad extends Migration {
  override up(): void {
    this.addSql(`create index "executions_model_index" on "executions" ("model");`);
    this.addSql(`alter table "executions" drop column "output";`);
    this.addSql(`alter table "executions" rename column "input" to "prompt";`);
    this.addSql(`alter table "executions" alter column "attempts" type bigint;`);
    this.addSql(`alter table "executions" add "badge" text not null;`);
  }
}
