import type { Declaration } from '../capability.ts';

export const views = {
  name: 'views',
  tags: { Views: 'Saved filters and columns of lists in the console.' },
  audit: { 'view.deleted': 'view' },
  auditedWhenFull: ['view.deleted'],
} as const satisfies Declaration;
