import { Migration } from '@mikro-orm/migrations';

export class Migration20261121212539_own_calls extends Migration {
  override name = 'Migration20261121212539_own_calls';

  override up(): void | Promise<void> {
    this.addSql(`alter table "evaluations" add "accepted_at" timestamptz(3) null;`);

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

    this.addSql(`drop index "executions_unfinished_index";`);
    this.addSql(
      `alter table "executions" add "paid_attempts" integer[] not null default '{}', add "check_at" timestamptz(3) not null default (now() + '00:00:30'::interval);`,
    );
    this.addSql(
      `alter table "executions" alter column "tokens_cached_input" type bigint using ("tokens_cached_input"::bigint);`,
    );
    this.addSql(`alter table "executions" alter column "tokens_cached_input" set default '0';`);
    this.addSql(`alter table "executions" alter column "tokens_input" type bigint using ("tokens_input"::bigint);`);
    this.addSql(`alter table "executions" alter column "tokens_input" set default '0';`);
    this.addSql(`alter table "executions" alter column "tokens_output" type bigint using ("tokens_output"::bigint);`);
    this.addSql(`alter table "executions" alter column "tokens_output" set default '0';`);
    this.addSql(
      `alter table "executions" alter column "tokens_reasoning" type bigint using ("tokens_reasoning"::bigint);`,
    );
    this.addSql(`alter table "executions" alter column "tokens_reasoning" set default '0';`);
    this.addSql(`alter table "executions" drop column "checked_at", add "accepted_at" timestamptz(3) null;`);
    // By hand: callers were told of what is there.
    this.addSql(`update "executions" set "accepted_at" = "created_at" where status in ('queued', 'running');`);
    this.addSql(`update "evaluations" set "accepted_at" = "created_at";`);
    this.addSql(
      `create index "executions_check_index" on "executions" ("check_at") where status in ('queued', 'running');`,
    );
  }

  override down(): void | Promise<void> {
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

    this.addSql(`alter table "evaluations" drop column "accepted_at";`);

    this.addSql(`drop index "executions_check_index";`);
    this.addSql(`alter table "executions" drop column "paid_attempts", drop column "check_at";`);
    this.addSql(`alter table "executions" alter column "tokens_input" type int using ("tokens_input"::int);`);
    this.addSql(`alter table "executions" alter column "tokens_input" set default 0;`);
    this.addSql(`alter table "executions" alter column "tokens_output" type int using ("tokens_output"::int);`);
    this.addSql(`alter table "executions" alter column "tokens_output" set default 0;`);
    this.addSql(
      `alter table "executions" alter column "tokens_cached_input" type int using ("tokens_cached_input"::int);`,
    );
    this.addSql(`alter table "executions" alter column "tokens_cached_input" set default 0;`);
    this.addSql(`alter table "executions" alter column "tokens_reasoning" type int using ("tokens_reasoning"::int);`);
    this.addSql(`alter table "executions" alter column "tokens_reasoning" set default 0;`);
    this.addSql(`alter table "executions" drop column "accepted_at", add "checked_at" timestamptz(3) null;`);
    this.addSql(
      `create index "executions_unfinished_index" on "executions" ("id") where "status" in ('queued', 'running');`,
    );
  }
}
