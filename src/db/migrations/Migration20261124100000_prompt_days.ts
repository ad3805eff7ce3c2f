import { Migration } from '@mikro-orm/migrations';

export class Migration20261124100000_prompt_days extends Migration {
  override name = 'Migration20261124100000_prompt_days';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "prompt_days" ("workspace_id" uuid not null, "prompt_name" text not null, "starts_at" timestamptz(3) not null, "prompt_version" int not null, "runs" bigint not null, "failed" bigint not null, "tokens_input" bigint not null, "tokens_output" bigint not null, "tokens_cached_input" bigint not null, "tokens_reasoning" bigint not null, "unpriced" bigint not null, "cost_amount" numeric null, "p50_ms" int null, "p95_ms" int null, primary key ("workspace_id", "prompt_name", "starts_at", "prompt_version"));`,
    );

    this.addSql(
      `create table "statistics_progress" ("workspace_id" uuid not null, "days_until" timestamptz(3) not null, primary key ("workspace_id"));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "prompt_days" cascade;`);
    this.addSql(`drop table if exists "statistics_progress" cascade;`);
  }
}
