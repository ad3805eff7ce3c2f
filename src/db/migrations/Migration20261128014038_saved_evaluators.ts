import { Migration } from '@mikro-orm/migrations';

export class Migration20261128014038_saved_evaluators extends Migration {
  override name = 'Migration20261128014038_saved_evaluators';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `create table "saved_evaluators" ("id" uuid not null, "workspace_id" uuid not null, "name" text not null, "description" text null, "versions" jsonb not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "saved_evaluators" add constraint "saved_evaluators_workspace_id_name_unique" unique ("workspace_id", "name");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "saved_evaluators" cascade;`);
  }
}
