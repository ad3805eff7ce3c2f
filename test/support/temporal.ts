import process from 'node:process';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';

/** host:port of the Temporal server that all tests share. */
export const TEMPORAL_ADDRESS = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';

/** One connection for workers and a client, to be closed by the test. Configure the SDK's log before. */
export async function connectToTemporal(): Promise<{ connection: NativeConnection; client: Client }> {
  const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS });
  return { connection, client: new Client({ connection }) };
}
