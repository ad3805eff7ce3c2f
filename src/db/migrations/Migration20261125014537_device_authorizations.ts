import { Migration } from '@mikro-orm/migrations';

export class Migration20261125014537_device_authorizations extends Migration {
  override name = 'Migration20261125014537_device_authorizations';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "device_authorizations" ("id" uuid not null, "device_code_hash" bytea not null, "user_code_hash" bytea not null, "client" text not null, "address" text not null, "caller" text not null, "poll_seconds" int not null, "polled_at" timestamptz(3) null, "decision" text null, "session_id" uuid null, "scopes" text[] null, "key_expires_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "device_authorizations" add constraint "device_authorizations_device_code_hash_unique" unique ("device_code_hash");`,
    );
    this.addSql(
      `alter table "device_authorizations" add constraint "device_authorizations_user_code_hash_unique" unique ("user_code_hash");`,
    );
    this.addSql(`create index "device_authorizations_expires_at_index" on "device_authorizations" ("expires_at");`);
    this.addSql(`create index "device_authorizations_caller_index" on "device_authorizations" ("caller");`);

    this.addSql(`alter table "api_keys" add "made_from" uuid null;`);
    this.addSql(`create index "api_keys_made_from_index" on "api_keys" ("made_from") where "made_from" is not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "device_authorizations" cascade;`);

    this.addSql(`drop index "api_keys_made_from_index";`);
    this.addSql(`alter table "api_keys" drop column "made_from";`);
  }
}
