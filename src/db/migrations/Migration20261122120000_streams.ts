import { Migration } from '@mikro-orm/migrations';

export class Migration20261122120000_streams extends Migration {
  override name = 'Migration20261122120000_streams';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "stream_deltas" ("execution_id" uuid not null, "attempt" int not null, "sequence" int not null, "workspace_id" uuid not null, "type" text not null, "data" text not null, primary key ("execution_id", "attempt", "sequence"));`,
    );

    this.addSql(
      `alter table "stream_deltas" add constraint "stream_deltas_type_check" check ("type" in ('text', 'tool_call'));`,
    );

    // Written by hand, from here: what entities can't express.
    // Rows lost in a crash can be read from the execution, and rows are written all the time: no write-ahead log for them.
    this.addSql('alter table "stream_deltas" set unlogged;');
    // Written by hand, until here.
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "stream_deltas" cascade;`);
  }
}
