import type { Declaration } from '../capability.ts';

export const usage = {
  name: 'usage',
  folders: ['statistics'],
  tags: {
    Usage: 'Runs, tokens and cost over a period.',
    Statistics: 'Runs, errors, cost, latency and scores of prompts over time.',
  },
} as const satisfies Declaration;
