import { endProcess } from './process-end.ts';

/** Stops everything that the set-up started. */
export default async function teardown(): Promise<void> {
  await endProcess();
  await globalThis.testServers?.temporal.stop();
  await globalThis.testServers?.postgres.stop();
}
