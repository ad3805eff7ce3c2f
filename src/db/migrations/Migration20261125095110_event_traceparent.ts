import { Migration } from '@mikro-orm/migrations';

export class Migration20261125095110_event_traceparent extends Migration {
  override name = 'Migration20261125095110_event_traceparent';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "events" add "traceparent" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "events" drop column "traceparent";`);
  }
}
