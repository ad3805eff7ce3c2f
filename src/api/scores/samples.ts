import type { z } from 'zod';
import type { Score, ScoreDefinition, ScoreSummary } from './schema.ts';

const at = '2026-01-31T12:00:00.000Z';
const subject = { execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' };

export const scoreSample: z.input<typeof Score> = {
  id: 'score_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  name: 'helpful',
  value: 0.8,
  data_type: 'numeric',
  subject,
  source: 'api',
  author: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  evaluator: null,
  comment: null,
  metadata: {},
  created_at: at,
  updated_at: at,
};

export const scoreBodies = {
  'One score': { name: 'helpful', value: 0.8, subject },
  Several: {
    scores: [
      { name: 'helpful', value: 0.8, subject },
      { name: 'topic', value: 'billing', subject },
    ],
  },
};

export const summarySample: z.input<typeof ScoreSummary> = {
  data: [
    {
      name: 'helpful',
      data_type: 'numeric',
      prompt_version: 3,
      n: 120,
      mean: 0.82,
      share_true: null,
      categories: null,
    },
  ],
  since: '2026-01-01T12:00:00.000Z',
  until: at,
};

export const definitionSample: z.input<typeof ScoreDefinition> = {
  name: 'helpful',
  data_type: 'numeric',
  min: 0,
  max: 1,
  categories: null,
  description: 'Whether the answer helps.',
  defined: true,
  created_at: at,
  updated_at: at,
};
