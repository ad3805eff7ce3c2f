import { Migration } from '@mikro-orm/migrations';

export class Migration20261121213811_bytes_of_rows extends Migration {
  override name = 'Migration20261121213811_bytes_of_rows';

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "dataset_examples" add "bytes" int generated always as (COALESCE(octet_length(example_key), 0) + COALESCE(octet_length((variables)::text), 0) + COALESCE(octet_length((expected)::text), 0) + COALESCE(octet_length((metadata)::text), 0)) stored not null;`,
    );

    this.addSql(
      `alter table "evaluations" add "bytes" int generated always as (COALESCE(octet_length((evaluators)::text), 0) + COALESCE(octet_length((parameters)::text), 0) + COALESCE(octet_length((metadata)::text), 0) + COALESCE(octet_length(status_reason), 0) + COALESCE(octet_length((scores_by_evaluator)::text), 0) + COALESCE(octet_length((summary)::text), 0) + COALESCE(octet_length((error)::text), 0)) stored not null;`,
    );

    this.addSql(
      `alter table "evaluation_results" add "bytes" int generated always as (COALESCE(octet_length(example_key), 0) + COALESCE(octet_length((variables)::text), 0) + COALESCE(octet_length((expected)::text), 0) + COALESCE(octet_length(output), 0) + COALESCE(octet_length((scores)::text), 0) + COALESCE(octet_length((error)::text), 0)) stored not null;`,
    );

    this.addSql(
      `alter table "executions" add "bytes" int generated always as (COALESCE(octet_length(input), 0) + COALESCE(octet_length(output), 0) + COALESCE(octet_length((variables)::text), 0) + COALESCE(octet_length((parameters)::text), 0) + COALESCE(octet_length((metadata)::text), 0) + COALESCE(octet_length((error)::text), 0)) stored not null;`,
    );

    this.addSql(
      `alter table "schedules" add "bytes" int generated always as (COALESCE(octet_length(name), 0) + COALESCE(octet_length((request)::text), 0) + COALESCE(octet_length((last_error)::text), 0)) stored not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "dataset_examples" drop column "bytes";`);

    this.addSql(`alter table "evaluation_results" drop column "bytes";`);

    this.addSql(`alter table "evaluations" drop column "bytes";`);

    this.addSql(`alter table "executions" drop column "bytes";`);

    this.addSql(`alter table "schedules" drop column "bytes";`);
  }
}
