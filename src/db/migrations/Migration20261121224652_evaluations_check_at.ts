import { Migration } from '@mikro-orm/migrations';

export class Migration20261121224652_evaluations_check_at extends Migration {
  override name = 'Migration20261121224652_evaluations_check_at';

  override up(): void | Promise<void> {
    this.addSql(`alter table "evaluations" drop column "checked_at";`);
    this.addSql(
      `alter table "evaluations" add "untold" boolean not null default false, add "check_at" timestamptz(3) not null default (now() + '00:00:30'::interval);`,
    );
    this.addSql(
      `create index "evaluations_check_index" on "evaluations" ("check_at") where untold or status in ('scheduled', 'running', 'paused');`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "evaluations_check_index";`);
    this.addSql(`alter table "evaluations" drop column "untold", drop column "check_at";`);
    this.addSql(`alter table "evaluations" add "checked_at" timestamptz(3) null;`);
  }
}
