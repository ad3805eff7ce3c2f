import { Migration } from '@mikro-orm/migrations';

export class Migration20261123120000_prompt_includes extends Migration {
  override name = 'Migration20261123120000_prompt_includes';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "prompt_includes" ("prompt_id" uuid not null, "version" int not null, "included_name" text not null, "workspace_id" uuid not null, primary key ("prompt_id", "version", "included_name"));`,
    );
    this.addSql(
      `create index "prompt_includes_included_name_index" on "prompt_includes" ("workspace_id", "included_name", "prompt_id", "version");`,
    );

    this.addSql(
      `alter table "prompt_includes" add constraint "prompt_includes_prompt_id_foreign" foreign key ("prompt_id") references "prompts" ("id") on delete cascade;`,
    );

    // Written by hand, from here: what entities can't express.
    this.addSql(
      `insert into "prompt_includes" ("workspace_id", "prompt_id", "version", "included_name") select distinct "workspace_id", "prompt_id", "version", split_part("ref", '@', 1) from "prompt_versions" cross join unnest("include_refs") as "ref";`,
    );
    // Written by hand, until here.
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "prompt_includes" cascade;`);
  }
}
