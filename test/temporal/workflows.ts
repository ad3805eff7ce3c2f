import { sleep } from '@temporalio/workflow';

/** Ends immediately. */
export async function answer(): Promise<number> {
  return 42;
}

/** Never ends, and blocks everything else. */
export async function spin(): Promise<void> {
  for (;;);
}

/** Waits for longer than any test. */
export async function patience(): Promise<void> {
  await sleep('1 day');
}

/** Leaves a promise rejected. */
export async function careless(): Promise<void> {
  void Promise.reject(new Error('left alone'));
  await sleep('1 day');
}
