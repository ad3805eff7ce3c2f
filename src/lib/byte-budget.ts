import { getHeapStatistics } from 'node:v8';
import { createFairSemaphore, type FairSemaphore } from './fair-semaphore.ts';

/** @param share 0..1 of this process's maximum heap, as set by `--max-old-space-size` or its container */
export const heapBytes = (share: number): number => Math.floor(getHeapStatistics().heap_size_limit * share);

/**
 * A budget of bytes for one process, shared by workspaces.
 * @param share as for {@link heapBytes}
 */
export function createByteBudget(share: number): FairSemaphore {
  return createFairSemaphore({ total: heapBytes(share) });
}
