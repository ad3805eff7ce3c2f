import { Migration } from '@mikro-orm/migrations';

export class Migration20261124103600_prompt_bytes extends Migration {
  override name = 'Migration20261124103600_prompt_bytes';

  override up(): void | Promise<void> {
    this.addSql(`alter table "prompts" add "stored_bytes" bigint not null default '0';`);
    // By hand: fills the column for existing versions.
    this.addSql(
      `update "prompts" as p set "stored_bytes" = v.bytes from (select "prompt_id", sum("bytes") as bytes from "prompt_versions" group by "prompt_id") as v where v."prompt_id" = p."id";`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "prompts" drop column "stored_bytes";`);
  }
}
