import { Migration } from '@mikro-orm/migrations';

export class Migration20261125142316_saved_views extends Migration {
  override name = 'Migration20261125142316_saved_views';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `create table "saved_views" ("id" uuid not null, "workspace_id" uuid not null, "owner" text not null, "name" text not null, "page" text not null, "query" jsonb not null, "columns" text[] not null, "shared" boolean not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "saved_views" add constraint "saved_views_workspace_id_owner_name_unique" unique ("workspace_id", "owner", "name");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "saved_views" cascade;`);
  }
}
