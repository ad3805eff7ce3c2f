import { Migration } from '@mikro-orm/migrations';

export class Migration20261121212740_turns_of_workspaces extends Migration {
  override name = 'Migration20261121212740_turns_of_workspaces';

  override up(): void | Promise<void> {
    this.addSql(`drop index "deliveries_unstarted_index";`);
    this.addSql(
      `create index "deliveries_unstarted_turns_index" on "deliveries" ("workspace_id", ("trigger" = 'replay'), "id") where "status" = 'queued' and "started_at" is null;`,
    );

    this.addSql(`drop index "events_undispatched_index";`);
    this.addSql(
      `create index "events_undispatched_turns_index" on "events" ("workspace_id", "id") where "dispatched_at" is null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "deliveries_unstarted_turns_index";`);
    this.addSql(
      `create index "deliveries_unstarted_index" on "deliveries" (("trigger" = 'replay'), "id") where "status" = 'queued' and "started_at" is null;`,
    );

    this.addSql(`drop index "events_undispatched_turns_index";`);
    this.addSql(`create index "events_undispatched_index" on "events" ("id") where "dispatched_at" is null;`);
  }
}
