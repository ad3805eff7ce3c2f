import { Migration } from '@mikro-orm/migrations';

export class Migration20261123110100_protected_labels extends Migration {
  override name = 'Migration20261123110100_protected_labels';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "protected_labels" ("id" uuid not null, "workspace_id" uuid not null, "label" text not null, "created_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "protected_labels" add constraint "protected_labels_workspace_id_label_unique" unique ("workspace_id", "label");`,
    );
    this.addSql(`create index "prompt_labels_workspace_id_label_index" on "prompt_labels" ("workspace_id", "label");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "protected_labels" cascade;`);
    this.addSql(`drop index "prompt_labels_workspace_id_label_index";`);
  }
}
