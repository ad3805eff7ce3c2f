import { executionStates } from '../domain/execution-states.ts';
import { sampledSql } from '../domain/rules/sampling.ts';

/**
 * The executions that rules examine: completed runs of a version with a real call of the model. A reused response was examined
 * when it was created, and the output of a draft was sent to no caller.
 * @param row its name in the statement
 * @returns a condition
 */
export const isRuled = (row: string): string =>
  `${executionStates.in(['completed'], row)} and ${row}.reused_from is null and (${row}.prompt_version is not null or ${row}.recorded)`;

function trigger(event: 'insert' | 'update') {
  const name = `rules_of_${event}`;
  // MikroORM drops a trigger together with the function of this name.
  const functionName = `executions_${name}_fn`;
  const isNews = event === 'insert' ? '' : ` and old.status is distinct from new.status`;
  return {
    name,
    timing: 'after' as const,
    events: [event],
    // As one expression: PostgreSQL returns conditions in another form, and a comparison of the schemas would find a difference.
    // Most workspaces have no rule: inserting nothing would still call the triggers of rule_items.
    expression: `create or replace function "${functionName}"() returns trigger language plpgsql as $$ begin
      if not exists (select from rules where workspace_id = new.workspace_id and enabled and trace_filter is null) then return null; end if;
      insert into rule_items (workspace_id, work_id, execution_id, created_at)
      select new.workspace_id, r.id, new.id, now() from rules r
      where r.workspace_id = new.workspace_id and r.enabled and r.trace_filter is null
        and (r.prompt_name is null or r.prompt_name = new.prompt_name)
        and (r.label is null or r.label = new.label)
        and (r.prompt_group is null or starts_with(new.prompt_name, r.prompt_group || '/'))
        and ${sampledSql('r.id', 'new.id', 'r.sample_rate')}; return null; end $$;
create trigger "${name}" after ${event} on "executions" for each row when (${isRuled('new')}${isNews})
      execute function "${functionName}"()`,
  };
}

/**
 * Queues a completing execution for the rules that match it, in the transaction that completes it: so none is lost, and none is
 * queued twice. `jobs/start-rules.ts` starts the work.
 */
export const executionRuleTriggers = [trigger('insert'), trigger('update')];
