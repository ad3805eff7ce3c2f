import { Migration } from '@mikro-orm/migrations';

export class Migration20261127142818_scores_of_traces extends Migration {
  override name = 'Migration20261127142818_scores_of_traces';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `alter table "scores" add "trace_id" uuid null, add "span_id" text null, add "conversation_id" text null;`,
    );

    this.addSql(`create or replace function "traces_scores_of_delete_fn"() returns trigger language plpgsql as $$ begin
      delete from scores using gone where scores.workspace_id = gone.workspace_id and scores.trace_id = gone.id; return null; end $$;`);
    this.addSql(
      `create trigger "scores_of_delete" after delete on "traces" referencing old table as gone for each statement execute function "traces_scores_of_delete_fn"();`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "scores" drop column "trace_id", drop column "span_id", drop column "conversation_id";`);

    this.addSql(`drop trigger if exists "scores_of_delete" on "traces";`);
    this.addSql(`drop function if exists "traces_scores_of_delete_fn"();`);
  }
}
