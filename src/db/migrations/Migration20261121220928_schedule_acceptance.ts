import { Migration } from '@mikro-orm/migrations';

export class Migration20261121220928_schedule_acceptance extends Migration {
  override name = 'Migration20261121220928_schedule_acceptance';

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "schedules" add "check_at" timestamptz(3) not null default (now() + '00:01:00'::interval);`,
    );
    // By hand: the schedules that there are were accepted.
    this.addSql(`alter table "schedules" add "accepted_at" timestamptz(3) null;`);
    this.addSql(`update "schedules" set "accepted_at" = "created_at";`);
    this.addSql(`alter table "schedules" drop column "checked_at";`);
    this.addSql(`create index "schedules_check_at_index" on "schedules" ("check_at");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "schedules_check_at_index";`);
    this.addSql(`alter table "schedules" drop column "check_at";`);
    this.addSql(`alter table "schedules" drop column "accepted_at";`);
    this.addSql(`alter table "schedules" add "checked_at" timestamptz(3) null;`);
  }
}
