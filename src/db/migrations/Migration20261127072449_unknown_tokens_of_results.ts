import { Migration } from '@mikro-orm/migrations';

export class Migration20261127072449_unknown_tokens_of_results extends Migration {
  override name = 'Migration20261127072449_unknown_tokens_of_results';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "evaluation_judgements" add "tokens_unknown" bigint not null default '0';`);

    this.addSql(
      `alter table "evaluation_results" add "notes" jsonb null, add "tokens_unknown" bigint not null default '0';`,
    );

    this.addSql(`alter table "rule_judgements" add "tokens_unknown" bigint not null default '0';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "evaluation_judgements" drop column "tokens_unknown";`);

    this.addSql(`alter table "evaluation_results" drop column "notes", drop column "tokens_unknown";`);

    this.addSql(`alter table "rule_judgements" drop column "tokens_unknown";`);
  }
}
