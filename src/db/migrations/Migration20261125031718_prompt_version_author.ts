import { Migration } from '@mikro-orm/migrations';

export class Migration20261125031718_prompt_version_author extends Migration {
  override name = 'Migration20261125031718_prompt_version_author';

  override up(): void | Promise<void> {
    this.addSql(`alter table "prompt_versions" add "created_by" jsonb null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "prompt_versions" drop column "created_by";`);
  }
}
