import { type SqlBool, sql } from 'kysely';

const SETTING = 'pms.deletes_audit_log';

/**
 * A condition for statements that delete entries of the audit log, so that the guard allows them. Only for deletion by age, or
 * with the workspace.
 */
export const PASS_AUDIT_GUARD = sql<SqlBool>`set_config(${sql.lit(SETTING)}, 'on', true) = 'on'`;

/** Refuses changes to entries of the audit log, and their deletion without {@link PASS_AUDIT_GUARD}. */
export const auditGuard = {
  name: 'guard',
  timing: 'before' as const,
  events: ['update' as const, 'delete' as const],
  // As one expression: PostgreSQL returns conditions in another form, and a comparison of the schemas would find a difference.
  // MikroORM drops a trigger together with the function of this name.
  expression: `create or replace function "audit_log_guard_fn"() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' and current_setting('${SETTING}', true) = 'on' then return old; end if;
      raise exception 'The audit log only grows.'; end $$;
create trigger "guard" before update or delete on "audit_log" for each row execute function "audit_log_guard_fn"()`,
};
