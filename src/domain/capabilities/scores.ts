import type { Declaration } from '../capability.ts';

export const scores = {
  name: 'scores',
  tags: { Scores: 'Scores that programs, people and evaluators give to executions and examples.' },
  ids: ['score'],
  audit: {
    'score.deleted': 'score',
    'score_definition.set': 'score_definition',
    'score_definition.deleted': 'score_definition',
  },
  auditedWhenFull: ['score.deleted', 'score_definition.deleted'],
  guides: { scores: 'Scores and feedback' },
} as const satisfies Declaration;
