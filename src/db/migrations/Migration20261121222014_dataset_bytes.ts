import { Migration } from '@mikro-orm/migrations';

export class Migration20261121222014_dataset_bytes extends Migration {
  override name = 'Migration20261121222014_dataset_bytes';

  override up(): void | Promise<void> {
    this.addSql(`alter table "dataset_versions" add "bytes" bigint not null default '0';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "dataset_versions" drop column "bytes";`);
  }
}
