import { DELETE_ONE, type Declaration } from '../capability.ts';

export const rules = {
  name: 'rules',
  tags: { Rules: 'Evaluators that score executions as they complete, within a daily budget.' },
  ids: ['rule', 'backfill'],
  audit: {
    'rule.created': 'rule',
    'rule.updated': 'rule',
    'rule.deleted': 'rule',
    'rule.backfill_started': 'rule',
    'rule.backfill_paused': 'rule',
    'rule.backfill_resumed': 'rule',
    'rule.backfill_canceled': 'rule',
  },
  auditedWhenFull: ['rule.deleted', 'rule.backfill_canceled'],
  quotas: { rules: { setting: 'QUOTA_RULES', default: 100, what: 'rules', remedy: DELETE_ONE, rows: 'rules' } },
  guides: { rules: 'Rules: scoring live traffic' },
} as const satisfies Declaration;
