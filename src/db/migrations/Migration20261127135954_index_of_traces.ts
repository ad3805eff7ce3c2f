import { Migration } from '@mikro-orm/migrations';
// Written by hand: executions are many, and go on being written while the index is made.
export class Migration20261127135954_index_of_traces extends Migration {
  override name = 'Migration20261127135954_index_of_traces';
  override isTransactional(): boolean {
    return false;
  }
  override up(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "executions_trace_index";`);
    this.addSql(
      `create index concurrently "executions_trace_index" on "executions" ("workspace_id", "trace_id", "id") where "trace_id" is not null;`,
    );
  }
  override down(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "executions_trace_index";`);
  }
}
