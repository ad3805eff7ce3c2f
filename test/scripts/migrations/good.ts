import { Migration } from '@mikro-orm/migrations';

/** Changes that are allowed while the previous release runs. */
export class Good extends Migration {
  override up(): void {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`create table "badges" ("id" uuid not null, "name" text not null, primary key ("id"));`);
    this.addSql(`create index "badges_name_index" on "badges" ("name");`);
    this.addSql(`alter table "executions" add "badge_id" uuid null, add "is_marked" boolean not null default false;`);
    this.addSql(
      `alter table "executions" add constraint "executions_badge_id_foreign" foreign key ("badge_id") references "badges" ("id") not valid;`,
    );
  }
}
