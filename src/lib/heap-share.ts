import { getHeapStatistics } from 'node:v8';

/** @returns bytes: a share (0..1) of the heap that this process may have, as `--max-old-space-size` or the memory of its container sets it */
export function heapShare(share: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit * share);
}
