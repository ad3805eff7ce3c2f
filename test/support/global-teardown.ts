/** Stops what the set-up started. */
export default async function teardown(): Promise<void> {
  await globalThis.testServers?.temporal.stop();
  await globalThis.testServers?.postgres.stop();
}
