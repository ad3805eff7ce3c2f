import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { loadStateMachines, type TableStates } from '../../scripts/state-machines.ts';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

function triggerOf({ table, machine }: TableStates): string {
  const { column, literals } = machine.stored;
  const known = Object.entries(machine.transitions).flatMap(([from, ends]) =>
    ends.map((to) => `(old.${column} = ${literals[from]} and new.${column} = ${literals[to]})`),
  );
  return `
    create function check_state_of_${table}() returns trigger language plpgsql as $$
    begin
      if not (${known.join(' or ')}) then
        raise exception 'There is no change of ${table} from % to %.', old.${column}, new.${column};
      end if;
      return new;
    end $$;
    create trigger check_state before update on ${table} for each row
      when (old.${column} is distinct from new.${column}) execute function check_state_of_${table}()`;
}

/**
 * Makes a database reject every state change that its machine (src/domain/*-states.ts) does not have, so that each test proves
 * that the service makes no other. Tests that need a row in a given state insert it.
 */
export async function installStateTriggers(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    for (const states of await loadStateMachines(root)) await client.query(triggerOf(states));
  } finally {
    await client.end();
  }
}
