import { agreementRoutes } from '../api/agreement/routes.ts';
import { queueRoutes } from '../api/queues/routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { fillQueues } from '../jobs/fill-queues.ts';
import { REVIEW_TOOLS } from '../mcp/tools/review-tools.ts';
import type { Capability } from './capability.ts';

const FILL_QUEUES_EVERY_MS = 5_000;

export const queues: Capability = {
  name: 'queues',
  routes: (parts) => [...queueRoutes(parts), ...agreementRoutes()],
  tools: REVIEW_TOOLS,
  jobs: (parts) => [
    { name: 'fill queues', everyMs: FILL_QUEUES_EVERY_MS, run: (stopping) => fillQueues(parts, stopping) },
  ],
  rows: [
    toDelete('queue_reviews', () => everyRow),
    toDelete('queue_items', () => everyRow),
    toDelete('queues', () => everyRow),
    // Scores and executions write them as long as queues exist.
    toDelete('queue_candidates', () => everyRow),
  ],
};
