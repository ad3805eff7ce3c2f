import { Migration } from '@mikro-orm/migrations';

export class Migration20261121220837_deletion extends Migration {
  override name = 'Migration20261121220837_deletion';

  override up(): void | Promise<void> {
    this.addSql(`create index "dataset_versions_workspace_id_index" on "dataset_versions" ("workspace_id");`);
    this.addSql(`create index "dataset_versions_alone_index" on "dataset_versions" ("id") where "dataset_id" is null;`);

    this.addSql(`create index "evaluations_examples_id_index" on "evaluations" ("examples_id");`);

    this.addSql(`alter table "workspaces" add "deleted_at" timestamptz(3) null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "dataset_versions_workspace_id_index";`);
    this.addSql(`drop index "dataset_versions_alone_index";`);

    this.addSql(`drop index "evaluations_examples_id_index";`);

    this.addSql(`alter table "workspaces" drop column "deleted_at";`);
  }
}
