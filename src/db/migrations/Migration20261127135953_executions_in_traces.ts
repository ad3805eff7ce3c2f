import { Migration } from '@mikro-orm/migrations';
export class Migration20261127135953_executions_in_traces extends Migration {
  override name = 'Migration20261127135953_executions_in_traces';
  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(
      `alter table "executions" add "trace_id" uuid null, add "span_id" text null, add "parent_id" text null, add "conversation_id" text null, add "step_type" text null;`,
    );
  }
  override down(): void | Promise<void> {
    this.addSql(
      `alter table "executions" drop column "trace_id", drop column "span_id", drop column "parent_id", drop column "conversation_id", drop column "step_type";`,
    );
  }
}
