import type { Declaration } from '../capability.ts';

export const savedEvaluators = {
  name: 'saved-evaluators',
  tags: {
    'Saved evaluators':
      'Evaluators with a name and versions, which evaluations, rules, releases and improvements use by name.',
  },
  audit: { 'saved_evaluator.set': 'saved_evaluator', 'saved_evaluator.deleted': 'saved_evaluator' },
  auditedWhenFull: ['saved_evaluator.deleted'],
} as const satisfies Declaration;
