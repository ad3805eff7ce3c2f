import type { Command } from 'commander';
import { checkAll } from '../services/reconciliation/check-all.ts';
import { withDatabase } from './database.ts';
import type { Result } from './output.ts';

/** Adds `reconcile`. */
export function addReconcileCommand(program: Command, show: (result: Result) => void): void {
  program
    .command('reconcile')
    .description(
      'after a restore: compare all unfinished work with Temporal immediately instead of within eleven minutes',
    )
    .action(async () => {
      const counts = await withDatabase((db) => checkAll(db.system));
      const parts = Object.entries(counts).map(([table, count]) => `${count} ${table.replace('_', ' ')}`);
      show({ json: { ...counts }, text: `Workers compare with Temporal within 15 s: ${parts.join(', ')}.` });
    });
}
