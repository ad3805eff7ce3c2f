import { Migration } from '@mikro-orm/migrations';

/** Not in a transaction: `scores` can be large, and writers must not wait. */
export class Migration20261127142900_indexes_of_scores_of_traces extends Migration {
  override name = 'Migration20261127142900_indexes_of_scores_of_traces';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "scores_trace_index";`);
    this.addSql(
      `create index concurrently "scores_trace_index" on "scores" ("workspace_id", "trace_id", "created_at", "id") where "trace_id" is not null;`,
    );
    this.addSql(`drop index concurrently if exists "scores_conversation_index";`);
    this.addSql(
      `create index concurrently "scores_conversation_index" on "scores" ("workspace_id", "conversation_id", "created_at", "id") where "conversation_id" is not null;`,
    );
    this.addSql(`drop index concurrently if exists "scores_of_traces_index";`);
    this.addSql(
      `create index concurrently "scores_of_traces_index" on "scores" ("created_at") where "execution_id" is null and "evaluation_id" is null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index concurrently if exists "scores_trace_index";`);
    this.addSql(`drop index concurrently if exists "scores_conversation_index";`);
    this.addSql(`drop index concurrently if exists "scores_of_traces_index";`);
  }
}
