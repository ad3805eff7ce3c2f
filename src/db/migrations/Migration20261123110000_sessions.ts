import { Migration } from '@mikro-orm/migrations';

export class Migration20261123110000_sessions extends Migration {
  override name = 'Migration20261123110000_sessions';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "sessions" ("id" uuid not null, "workspace_id" uuid not null, "api_key_id" uuid not null, "hash" bytea not null, "address" text not null, "user_agent" text null, "created_at" timestamptz(3) not null, "last_used_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "sessions" add constraint "sessions_hash_unique" unique ("hash");`);
    this.addSql(`create index "sessions_workspace_id_id_index" on "sessions" ("workspace_id", "id");`);
    this.addSql(`create index "sessions_api_key_id_id_index" on "sessions" ("api_key_id", "id");`);
    this.addSql(`create index "sessions_expires_at_index" on "sessions" ("expires_at");`);

    this.addSql(
      `alter table "sessions" add constraint "sessions_api_key_id_foreign" foreign key ("api_key_id") references "api_keys" ("id") on delete cascade;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "sessions" cascade;`);
  }
}
