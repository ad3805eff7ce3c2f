import { readFile } from 'node:fs/promises';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Settings } from '../config.ts';

/**
 * One connection a process, shared by client and workers: only so can a workflow's first task be handed to a worker of the
 * same process at once (eager start).
 * @param address host:port
 */
export async function connectTemporal(
  address: string,
  { temporal: { namespace, apiKey, tlsCert, tlsKey } }: Pick<Settings, 'temporal'>,
): Promise<{ connection: NativeConnection; client: Client }> {
  const clientCertPair =
    tlsCert !== undefined && tlsKey !== undefined
      ? { crt: await readFile(tlsCert), key: await readFile(tlsKey) }
      : undefined;
  const connection = await NativeConnection.connect({
    address,
    ...(apiKey === undefined ? {} : { apiKey, tls: true }),
    ...(clientCertPair === undefined ? {} : { tls: { clientCertPair } }),
  });
  return { connection, client: new Client({ connection, namespace }) };
}
