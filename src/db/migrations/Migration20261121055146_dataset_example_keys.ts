import { Migration } from '@mikro-orm/migrations';

export class Migration20261121055146_dataset_example_keys extends Migration {
  override name = 'Migration20261121055146_dataset_example_keys';

  override up(): void | Promise<void> {
    this.addSql(`alter table "dataset_examples" drop constraint "dataset_examples_dataset_version_id_seq_unique";`);
    this.addSql(`alter table "dataset_examples" drop constraint "dataset_examples_pkey";`);
    this.addSql(`alter table "dataset_examples" drop column "id";`);
    this.addSql(`alter table "dataset_examples" add primary key ("dataset_version_id", "seq");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "dataset_examples" drop constraint "dataset_examples_pkey";`);
    this.addSql(`alter table "dataset_examples" add "id" uuid not null default gen_random_uuid();`);
    this.addSql(
      `alter table "dataset_examples" add constraint "dataset_examples_dataset_version_id_seq_unique" unique ("dataset_version_id", "seq");`,
    );
    this.addSql(`alter table "dataset_examples" add primary key ("id");`);
  }
}
