import { globSync } from 'node:fs';
import path from 'node:path';
import type { StateMachine } from '../src/domain/state-machine.ts';

/** Which table holds the states of `src/domain/…/<name>-states.ts`. */
const TABLES: Readonly<Record<string, string>> = {
  execution: 'executions',
  evaluation: 'evaluations',
  delivery: 'deliveries',
  webhook: 'webhooks',
  schedule: 'schedules',
  release: 'releases',
  monitor: 'monitors',
  backfill: 'rule_backfills',
  'provider-batch': 'provider_batches',
};

/** A machine and the table whose rows it holds for. */
export interface TableStates {
  table: string;
  machine: StateMachine<string>;
}

function isMachine(value: unknown): value is StateMachine<string> {
  return typeof value === 'object' && value !== null && 'transitions' in value && 'stored' in value;
}

/**
 * The state machines of a project: what the files `*-states.ts` of src/domain export.
 * @throws Error where a file has no machine, or its table is unknown
 */
export async function loadStateMachines(root: string): Promise<TableStates[]> {
  const files = globSync('**/*-states.ts', { cwd: path.join(root, 'src/domain') }).sort();
  return Promise.all(
    files.map(async (file) => {
      const table = TABLES[path.basename(file, '-states.ts')];
      if (table === undefined) throw new Error(`src/domain/${file}: add its table to scripts/state-machines.ts`);
      // A path and no URL: jest's global set-up loads it by require().
      const exports: Record<string, unknown> = await import(path.join(root, 'src/domain', file));
      const machine = Object.values(exports).find(isMachine);
      if (machine === undefined) throw new Error(`src/domain/${file}: it exports no state machine`);
      return { table, machine };
    }),
  );
}
