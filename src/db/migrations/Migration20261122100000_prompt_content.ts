import { Migration } from '@mikro-orm/migrations';

export class Migration20261122100000_prompt_content extends Migration {
  override name = 'Migration20261122100000_prompt_content';

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "prompt_versions" add "messages" jsonb null, add "tools" jsonb null, add "tool_choice" jsonb null, add "inputs" jsonb null, add "fallback_models" text[] not null default '{}', add "config" jsonb null, add "include_refs" text[] not null default '{}', add "bytes" int not null default 0;`,
    );
    this.addSql(`alter table "prompt_versions" alter column "template" drop not null;`);

    // Written by hand, from here: what entities can't express.
    this.addSql(
      `update "prompt_versions" set "bytes" = 2 * octet_length("template") + octet_length("parameters"::text) + coalesce(octet_length("commit_message"), 0);`,
    );
    // Written by hand, until here.
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "prompt_versions" drop column "messages", drop column "tools", drop column "tool_choice", drop column "inputs", drop column "fallback_models", drop column "config", drop column "include_refs", drop column "bytes";`,
    );
    this.addSql(`alter table "prompt_versions" alter column "template" set not null;`);
  }
}
