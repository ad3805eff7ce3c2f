import type { Declaration } from '../capability.ts';

/** The number of queues is fixed (`MAX_QUEUES`), so there is no quota. */
export const queues = {
  name: 'queues',
  folders: ['agreement'],
  tags: { Queues: 'Executions and examples for people to score one by one.' },
  ids: ['queueItem'],
  audit: {
    'queue.created': 'queue',
    'queue.updated': 'queue',
    'queue.deleted': 'queue',
    'queue.items_added': 'queue',
    'queue.item_completed': 'queue',
    'queue.item_skipped': 'queue',
    'queue.item_returned': 'queue',
  },
  auditedWhenFull: ['queue.deleted'],
  guides: { queues: 'Annotation queues' },
} as const satisfies Declaration;
