import { agreementRoutes } from '../api/agreement/routes.ts';
import { queueRoutes } from '../api/queues/routes.ts';
import { doomed, everyRow } from '../db/delete-in-batches.ts';
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
    doomed('queue_reviews', () => everyRow),
    doomed('queue_items', () => everyRow),
    doomed('queues', () => everyRow),
    // Scores and executions write them, as long as there are queues.
    doomed('queue_candidates', () => everyRow),
  ],
};
