import { Migration } from '@mikro-orm/migrations';

export class Migration20261127211815_search_index extends Migration {
  override name = 'Migration20261127211815_search_index';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `-- squawk-ignore prefer-identity\ncreate table "search_candidates" ("id" bigserial primary key, "workspace_id" uuid not null, "subject_id" uuid not null, "is_trace" boolean not null);`,
    );
    this.addSql(`create index "search_candidates_workspace_id_index" on "search_candidates" ("workspace_id");`);

    this.addSql(
      `create table "search_index" ("id" bigint not null, "executions_from" uuid null, "traces_from" timestamptz(3) null, primary key ("id"));`,
    );

    this.addSql(
      `create table "search_words" ("workspace_id" uuid not null, "subject_id" uuid not null, "words" tsvector not null, primary key ("workspace_id", "subject_id"));`,
    );
    this.addSql(
      `create index "search_words_words_index" on "search_words" using gin ("words") with (fastupdate = on, gin_pending_list_limit = 256);`,
    );
  }

  override down(): void | Promise<void> {
    // With their triggers, if there is an index.
    for (const name of [
      'executions_search_note',
      'executions_search_forget',
      'traces_search_note',
      'traces_search_forget',
    ])
      this.addSql(`drop function if exists "${name}_fn"() cascade;`);
    this.addSql(`drop table if exists "search_candidates" cascade;`);
    this.addSql(`drop table if exists "search_index" cascade;`);
    this.addSql(`drop table if exists "search_words" cascade;`);
  }
}
