import { getHeapStatistics } from 'node:v8';
import { createFairSemaphore, type FairSemaphore } from './fair-semaphore.ts';

/** @param share 0..1 of the heap that this process may have, as `--max-old-space-size` or the memory of its container sets it */
export const heapBytes = (share: number): number => Math.floor(getHeapStatistics().heap_size_limit * share);

/**
 * A budget of bytes for one process, shared by workspaces.
 * @param share as of {@link heapBytes}
 */
export function createByteBudget(share: number): FairSemaphore {
  return createFairSemaphore({ total: heapBytes(share) });
}
