import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from './service.ts';

const SAMPLE_EVERY_MS = 200;
const MIB = 1024 * 1024;

/**
 * Resident memory of the service's process while it works. An idle process is not measured because V8 may postpone garbage
 * collection.
 * @returns the result of `work`, and one sample every 0.2 s, in MiB
 */
export async function memoryAtWork<Result>(
  service: Pick<Service, 'rssBytes'>,
  work: Promise<Result>,
): Promise<{ result: Result; samplesMib: number[] }> {
  const samplesMib: number[] = [];
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([over, delay(SAMPLE_EVERY_MS)]);
    samplesMib.push((await service.rssBytes()) / MIB);
  }
  return { result: await over, samplesMib };
}
