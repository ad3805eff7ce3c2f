import type { z } from 'zod';
import type { Queue, QueueAgreement, QueueItem } from './schema.ts';

export const queueSample: z.input<typeof Queue> = {
  name: 'support/unhelpful',
  description: 'Is the answer correct and kind?',
  score_names: ['helpful'],
  filter: { prompt_name: 'support/greeting', score: ['helpful<0.5'] },
  trace_filter: null,
  sample_rate: 1,
  reviewers_per_item: 1,
  progress: { pending: 498, leased: 1, completed: 1, skipped: 0 },
  full: false,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
};

export const itemSample: z.input<typeof QueueItem> = {
  id: 'item_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  subject: { execution_id: 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a10' },
  state: 'leased',
  completed: 0,
  skipped: 0,
  reviews: [
    {
      reviewer: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a12',
      state: 'leased',
      leased_until: '2026-01-31T12:15:00.000Z',
      ended_at: null,
      correction: null,
    },
  ],
  created_at: '2026-01-31T12:00:00.000Z',
  completed_at: null,
};

export const queueAgreementSample: z.input<typeof QueueAgreement> = {
  scores: [
    {
      name: 'helpful',
      data_type: 'boolean',
      items: 120,
      same: 0.9,
      measure: { name: 'krippendorff_alpha', value: 0.79, interval: { lower: 0.68, upper: 0.9 } },
      pairs: [],
    },
  ],
};
