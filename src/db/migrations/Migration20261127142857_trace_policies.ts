import { Migration } from '@mikro-orm/migrations';
export class Migration20261127142857_trace_policies extends Migration {
  override name = 'Migration20261127142857_trace_policies';
  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `create table "trace_policies" ("workspace_id" uuid not null, "policy" jsonb not null, "updated_at" timestamptz(3) not null, primary key ("workspace_id"));`,
    );
    this.addSql(`alter table "traces" add "completed_at" timestamptz(3) null;`);
  }
  override down(): void | Promise<void> {
    this.addSql(`alter table "traces" drop column "completed_at";`);
    this.addSql(`drop table if exists "trace_policies" cascade;`);
  }
}
