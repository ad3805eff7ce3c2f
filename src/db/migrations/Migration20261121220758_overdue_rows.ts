import { Migration } from '@mikro-orm/migrations';

export class Migration20261121220758_overdue_rows extends Migration {
  override name = 'Migration20261121220758_overdue_rows';

  override up(): void | Promise<void> {
    this.addSql(`alter table "deliveries" drop column "checked_at";`);
    this.addSql(
      `alter table "deliveries" add "check_at" timestamptz(3) not null default (now() + '00:01:00'::interval);`,
    );
    this.addSql(
      `create index "deliveries_overdue_index" on "deliveries" ("check_at") where "status" in ('queued', 'waiting') and ("status" = 'waiting' or "started_at" is not null);`,
    );

    this.addSql(
      `alter table "notifications" add "email_pending" boolean not null default false, add "email_attempts" int not null default 0, add "check_at" timestamptz(3) not null default now();`,
    );
    this.addSql(`create index "notifications_unsent_index" on "notifications" ("check_at") where "email_pending";`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "deliveries_overdue_index";`);
    this.addSql(`alter table "deliveries" drop column "check_at";`);
    this.addSql(`alter table "deliveries" add "checked_at" timestamptz(3) null;`);

    this.addSql(`drop index "notifications_unsent_index";`);
    this.addSql(
      `alter table "notifications" drop column "email_pending", drop column "email_attempts", drop column "check_at";`,
    );
  }
}
