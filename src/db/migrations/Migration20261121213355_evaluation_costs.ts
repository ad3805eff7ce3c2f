import { Migration } from '@mikro-orm/migrations';

export class Migration20261121213355_evaluation_costs extends Migration {
  override name = 'Migration20261121213355_evaluation_costs';

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "evaluation_judgements" add "assumed_cost" numeric null, add "outcome_ids" uuid[] not null default '{}';`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "answer" drop not null;`);
    this.addSql(
      `alter table "evaluation_judgements" alter column "tokens_cached_input" type bigint using ("tokens_cached_input"::bigint);`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "tokens_cached_input" set default '0';`);
    this.addSql(
      `alter table "evaluation_judgements" alter column "tokens_input" type bigint using ("tokens_input"::bigint);`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "tokens_input" set default '0';`);
    this.addSql(
      `alter table "evaluation_judgements" alter column "tokens_output" type bigint using ("tokens_output"::bigint);`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "tokens_output" set default '0';`);
    this.addSql(
      `alter table "evaluation_judgements" alter column "tokens_reasoning" type bigint using ("tokens_reasoning"::bigint);`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "tokens_reasoning" set default '0';`);

    this.addSql(
      `alter table "evaluation_results" add "assumed_cost" numeric null, add "outcome_ids" uuid[] not null default '{}';`,
    );
    this.addSql(
      `alter table "evaluation_results" alter column "tokens_cached_input" type bigint using ("tokens_cached_input"::bigint);`,
    );
    this.addSql(`alter table "evaluation_results" alter column "tokens_cached_input" set default '0';`);
    this.addSql(
      `alter table "evaluation_results" alter column "tokens_input" type bigint using ("tokens_input"::bigint);`,
    );
    this.addSql(`alter table "evaluation_results" alter column "tokens_input" set default '0';`);
    this.addSql(
      `alter table "evaluation_results" alter column "tokens_output" type bigint using ("tokens_output"::bigint);`,
    );
    this.addSql(`alter table "evaluation_results" alter column "tokens_output" set default '0';`);
    this.addSql(
      `alter table "evaluation_results" alter column "tokens_reasoning" type bigint using ("tokens_reasoning"::bigint);`,
    );
    this.addSql(`alter table "evaluation_results" alter column "tokens_reasoning" set default '0';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "evaluation_judgements" drop column "assumed_cost", drop column "outcome_ids";`);
    this.addSql(`alter table "evaluation_judgements" alter column "answer" set not null;`);
    this.addSql(
      `alter table "evaluation_judgements" alter column "tokens_input" type int using ("tokens_input"::int);`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "tokens_input" set default 0;`);
    this.addSql(
      `alter table "evaluation_judgements" alter column "tokens_output" type int using ("tokens_output"::int);`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "tokens_output" set default 0;`);
    this.addSql(
      `alter table "evaluation_judgements" alter column "tokens_cached_input" type int using ("tokens_cached_input"::int);`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "tokens_cached_input" set default 0;`);
    this.addSql(
      `alter table "evaluation_judgements" alter column "tokens_reasoning" type int using ("tokens_reasoning"::int);`,
    );
    this.addSql(`alter table "evaluation_judgements" alter column "tokens_reasoning" set default 0;`);

    this.addSql(`alter table "evaluation_results" drop column "assumed_cost", drop column "outcome_ids";`);
    this.addSql(`alter table "evaluation_results" alter column "tokens_input" type int using ("tokens_input"::int);`);
    this.addSql(`alter table "evaluation_results" alter column "tokens_input" set default 0;`);
    this.addSql(`alter table "evaluation_results" alter column "tokens_output" type int using ("tokens_output"::int);`);
    this.addSql(`alter table "evaluation_results" alter column "tokens_output" set default 0;`);
    this.addSql(
      `alter table "evaluation_results" alter column "tokens_cached_input" type int using ("tokens_cached_input"::int);`,
    );
    this.addSql(`alter table "evaluation_results" alter column "tokens_cached_input" set default 0;`);
    this.addSql(
      `alter table "evaluation_results" alter column "tokens_reasoning" type int using ("tokens_reasoning"::int);`,
    );
    this.addSql(`alter table "evaluation_results" alter column "tokens_reasoning" set default 0;`);
  }
}
