import { globSync } from 'node:fs';
import path from 'node:path';
import type { StateMachine } from '../src/domain/state-machine.ts';

/** The table that stores the states of `src/domain/…/<name>-states.ts`. */
const TABLES: Readonly<Record<string, string>> = {
  execution: 'executions',
  evaluation: 'evaluations',
  delivery: 'deliveries',
  webhook: 'webhooks',
  schedule: 'schedules',
  release: 'releases',
  improvement: 'improvements',
  monitor: 'monitors',
  backfill: 'rule_backfills',
  'provider-batch': 'provider_batches',
};

/** A state machine and its table. */
export interface TableStates {
  table: string;
  machine: StateMachine<string>;
}

function isMachine(value: unknown): value is StateMachine<string> {
  return typeof value === 'object' && value !== null && 'transitions' in value && 'stored' in value;
}

/**
 * The state machines of a project: the exports of `*-states.ts` in src/domain.
 * @throws Error if a file has no machine, or its table is unknown
 */
export async function loadStateMachines(root: string): Promise<TableStates[]> {
  const files = globSync('**/*-states.ts', { cwd: path.join(root, 'src/domain') }).sort();
  return Promise.all(
    files.map(async (file) => {
      const table = TABLES[path.basename(file, '-states.ts')];
      if (table === undefined) throw new Error(`src/domain/${file}: add its table to scripts/state-machines.ts`);
      // A path rather than a URL: jest's global set-up loads it with require().
      const exports: Record<string, unknown> = await import(path.join(root, 'src/domain', file));
      const machine = Object.values(exports).find(isMachine);
      if (machine === undefined) throw new Error(`src/domain/${file}: it exports no state machine`);
      return { table, machine };
    }),
  );
}
