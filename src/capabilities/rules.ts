import { sql } from 'kysely';
import { ruleRoutes } from '../api/rules/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { deleteRuleItems } from '../jobs/delete-rule-items.ts';
import { startRules } from '../jobs/start-rules.ts';
import type { Capability } from './capability.ts';

/** How soon a rule without pending executions starts scoring newly completed ones. */
const START_RULES_EVERY_MS = 1_000;
/** How soon the pending items of a disabled or deleted rule are deleted. */
const DELETE_RULE_ITEMS_EVERY_MS = 5_000;

export const rules: Capability = {
  name: 'rules',
  routes: ruleRoutes,
  jobs: ({ db: { system }, starter, log }) => [
    { name: 'start rules', everyMs: START_RULES_EVERY_MS, run: () => startRules(system, starter, log) },
    {
      name: 'delete items of rules',
      everyMs: DELETE_RULE_ITEMS_EVERY_MS,
      run: (stopping) => deleteRuleItems(system, stopping),
    },
  ],
  rows: [
    toDelete('rule_items', () => everyRow),
    toDelete('rule_days', () => everyRow),
    toDelete('trace_judgements', () => everyRow),
    toDelete('rules', () => ({ ...everyRow, bytes: sql.ref<number>('bytes') })),
  ],
};
