import { Migration } from '@mikro-orm/migrations';

export class Migration20261124171134_provider_batches extends Migration {
  override name = 'Migration20261124171134_provider_batches';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "provider_batches" ("id" uuid not null, "workspace_id" uuid not null, "evaluation_id" uuid not null, "number" int not null, "round" int not null, "wave" text not null, "evaluator" text null, "provider" text not null, "model" text not null, "seq_from" int not null, "seq_to" int not null, "status" text not null, "error" jsonb null, "items" int not null default 0, "reserved_cost" numeric null, "submissions" int not null default 0, "provider_batch_id" text null, "files" text[] not null default '{}', "provider_status" text null, "counts" jsonb null, "cancel_requested" boolean not null default false, "created_at" timestamptz(3) not null, "submitted_at" timestamptz(3) null, "expires_at" timestamptz(3) null, "give_up_at" timestamptz(3) null, "next_poll_at" timestamptz(3) null, "finished_at" timestamptz(3) null, "check_at" timestamptz(3) not null default (now() + '00:00:30'::interval), primary key ("id"));`,
    );
    this.addSql(`create index "provider_batches_workspace_id_id_index" on "provider_batches" ("workspace_id", "id");`);
    this.addSql(
      `create index "provider_batches_check_index" on "provider_batches" ("check_at") where status in ('preparing', 'submitting', 'unknown', 'in_progress', 'settling');`,
    );
    this.addSql(
      `alter table "provider_batches" add constraint "provider_batches_evaluation_id_number_unique" unique ("evaluation_id", "number");`,
    );

    this.addSql(`alter table "evaluations" add "mode" text not null default 'interactive', add "batch" jsonb null;`);
    this.addSql(
      `alter table "evaluations" add constraint "evaluations_mode_check" check ("mode" in ('interactive', 'batch', 'auto'));`,
    );

    this.addSql(
      `alter table "provider_batches" add constraint "provider_batches_evaluation_id_foreign" foreign key ("evaluation_id") references "evaluations" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "provider_batches" add constraint "provider_batches_wave_check" check ("wave" in ('responses', 'judgements'));`,
    );
    this.addSql(
      `alter table "provider_batches" add constraint "provider_batches_status_check" check ("status" in ('preparing', 'submitting', 'unknown', 'in_progress', 'settling', 'completed', 'failed', 'expired', 'canceled'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "provider_batches" cascade;`);

    this.addSql(`alter table "evaluations" drop constraint "evaluations_mode_check";`);
    this.addSql(`alter table "evaluations" drop column "mode", drop column "batch";`);
  }
}
