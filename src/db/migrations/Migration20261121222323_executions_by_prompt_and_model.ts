import { Migration } from '@mikro-orm/migrations';

export class Migration20261121222323_executions_by_prompt_and_model extends Migration {
  override name = 'Migration20261121222323_executions_by_prompt_and_model';

  override up(): void | Promise<void> {
    this.addSql(
      `create index "executions_workspace_id_prompt_name_model_id_index" on "executions" ("workspace_id", "prompt_name", "model", "id");`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "executions_workspace_id_prompt_name_model_id_index";`);
  }
}
