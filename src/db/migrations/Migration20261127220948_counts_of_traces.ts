import { Migration } from '@mikro-orm/migrations';

export class Migration20261127220948_counts_of_traces extends Migration {
  override name = 'Migration20261127220948_counts_of_traces';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "release_entries" add "sign" bigint not null default '1';`);

    this.addSql(`alter table "traces" add "counted" jsonb null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "release_entries" drop column "sign";`);

    this.addSql(`alter table "traces" drop column "counted";`);
  }
}
