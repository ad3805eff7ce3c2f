import { Migration } from '@mikro-orm/migrations';

/** Triggers of scores stay; only their functions change, so that writers need not wait. */
export class Migration20261127185200_traces_in_releases extends Migration {
  override name = 'Migration20261127185200_traces_in_releases';

  override up(): void | Promise<void> {
    this.addSql(`set local lock_timeout = '5s';`);
    this.addSql(`alter table "release_entries" add "of_trace" text null;`);
    this.addSql(`create or replace function "scores_release_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
      select workspace_id, release_id, stage, arm, subject_at, name, sum(n), sum(total), sum(squares) from (select workspace_id, release_id, release_stage as stage, arm, subject_at, case when trace_id is null then name else 'trace:' || name end as name, 1 as n, 1 * number as total, 1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from made where release_stage is not null and number is not null) as entry
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 or sum(total) <> 0 or sum(squares) <> 0; return null; end $$;`);
    this.addSql(`create or replace function "scores_release_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
      select workspace_id, release_id, stage, arm, subject_at, name, sum(n), sum(total), sum(squares) from (select workspace_id, release_id, release_stage as stage, arm, subject_at, case when trace_id is null then name else 'trace:' || name end as name, 1 as n, 1 * number as total, 1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from made where release_stage is not null and number is not null union all select workspace_id, release_id, release_stage as stage, arm, subject_at, case when trace_id is null then name else 'trace:' || name end as name, -1 as n, -1 * number as total, -1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from gone where release_stage is not null and number is not null) as entry
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 or sum(total) <> 0 or sum(squares) <> 0; return null; end $$;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "release_entries" drop column "of_trace";`);
    this.addSql(`create or replace function "scores_release_of_insert_fn"() returns trigger language plpgsql as $$ begin
      insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
      select workspace_id, release_id, stage, arm, subject_at, name, sum(n), sum(total), sum(squares) from (select workspace_id, release_id, release_stage as stage, arm, subject_at, name, 1 as n, 1 * number as total, 1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from made where release_stage is not null and number is not null) as entry
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 or sum(total) <> 0 or sum(squares) <> 0; return null; end $$;`);
    this.addSql(`create or replace function "scores_release_of_update_fn"() returns trigger language plpgsql as $$ begin
      insert into release_score_entries (workspace_id, release_id, stage, arm, created_at, name, count, total, squares)
      select workspace_id, release_id, stage, arm, subject_at, name, sum(n), sum(total), sum(squares) from (select workspace_id, release_id, release_stage as stage, arm, subject_at, name, 1 as n, 1 * number as total, 1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from made where release_stage is not null and number is not null union all select workspace_id, release_id, release_stage as stage, arm, subject_at, name, -1 as n, -1 * number as total, -1 * case when abs(number) > 1e-100 then number * number else 0 end as squares
        from gone where release_stage is not null and number is not null) as entry
      group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0 or sum(total) <> 0 or sum(squares) <> 0; return null; end $$;`);
  }
}
