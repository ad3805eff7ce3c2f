import { Migration } from '@mikro-orm/migrations';

export class Migration20261124132106_recorded_executions extends Migration {
  override name = 'Migration20261124132106_recorded_executions';

  override up(): void | Promise<void> {
    this.addSql(`alter table "executions" add "recorded" boolean not null default false, add "record_key" text null;`);
    this.addSql(`create index "executions_recorded_index" on "executions" ("workspace_id", "id") where "recorded";`);
    this.addSql(
      `create unique index "executions_record_key_index" on "executions" ("workspace_id", "record_key") where "record_key" is not null;`,
    );
    this.addSql(`create or replace function "executions_release_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into release_entries (workspace_id, release_id, stage, arm, created_at, failed, fell_back, reused, latency_ms, cost, tokens)
      values (new.workspace_id, new.release_id, new.release_stage, new.release_arm, new.created_at, new.status = 'failed',
        new.model is distinct from coalesce(new.requested_model, new.model), new.reused_from is not null,
        case when new.status = 'completed' and new.reused_from is null then extract(epoch from new.finished_at - new.created_at) * 1000 end,
        case when new.reused_from is null then new.cost_amount end, new.tokens_input + new.tokens_output);
      return null; end $$;`);
    this.addSql(`create trigger "release_of_insert" after insert on "executions" for each row when (new.release_stage is not null and new.status in ('completed', 'failed'))
      execute function "executions_release_of_insert_fn"();`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "executions_recorded_index";`);
    this.addSql(`drop index "executions_record_key_index";`);
    this.addSql(`drop trigger if exists "release_of_insert" on "executions";`);
    this.addSql(`drop function if exists "executions_release_of_insert_fn"();`);
    this.addSql(`alter table "executions" drop column "recorded", drop column "record_key";`);
  }
}
