import { Migration } from '@mikro-orm/migrations';

export class Migration20261124151024_rule_items_bound extends Migration {
  override name = 'Migration20261124151024_rule_items_bound';

  override up(): void | Promise<void> {
    this.addSql(`create or replace function "rule_items_storage_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum(256) from made group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_insert" after insert on "rule_items" referencing new table as made for each statement execute function "rule_items_storage_of_insert_fn"();`,
    );
    this.addSql(`create or replace function "rule_items_storage_of_delete_fn"() returns trigger language plpgsql as $$ begin
      insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum(256) from gone group by workspace_id; return null; end $$;`);
    this.addSql(
      `create trigger "storage_of_delete" after delete on "rule_items" referencing old table as gone for each statement execute function "rule_items_storage_of_delete_fn"();`,
    );

    // By hand: counts existing rows. Creating the triggers blocks writers until this is committed.
    this.addSql(
      `insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', sum(256) from rule_items group by workspace_id;`,
    );
  }

  override down(): void | Promise<void> {
    // By hand: subtracts the rows, which no longer count.
    this.addSql(`lock table rule_items in share row exclusive mode;`);
    this.addSql(
      `insert into storage_entries (workspace_id, kind, bytes) select workspace_id, 'runs', -sum(256) from rule_items group by workspace_id;`,
    );

    this.addSql(`drop trigger if exists "storage_of_insert" on "rule_items";`);
    this.addSql(`drop function if exists "rule_items_storage_of_insert_fn"();`);
    this.addSql(`drop trigger if exists "storage_of_delete" on "rule_items";`);
    this.addSql(`drop function if exists "rule_items_storage_of_delete_fn"();`);
  }
}
