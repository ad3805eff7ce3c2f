import { readFile } from 'node:fs/promises';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Settings } from '../config.ts';
import { refuseInTransaction } from '../lib/transaction-scope.ts';
import { createDataConverter } from './data-converter.ts';

/** Every call of the client goes through these two services; workers bypass them. */
function refuseCallsInTransactions({ workflowService, operatorService }: NativeConnection): void {
  for (const service of [workflowService, operatorService]) {
    const { rpcImpl } = service;
    if (rpcImpl === null) throw new Error('A connection without its calls.');
    service.rpcImpl = (method, request, callback) => {
      refuseInTransaction('Temporal');
      return rpcImpl(method, request, callback);
    };
  }
}

/**
 * One connection per process, shared by client and workers: only then can a workflow's first task go straight to a worker of
 * the same process (eager start).
 * @param address host:port
 * @param interceptors for the client's workflow calls
 */
export async function connectTemporal(
  address: string,
  { temporal: { namespace, apiKey, tlsCert, tlsKey, payloadKeys } }: Pick<Settings, 'temporal'>,
  interceptors: WorkflowClientInterceptor[] = [],
): Promise<{ connection: NativeConnection; client: Client }> {
  const clientCertPair =
    tlsCert !== undefined && tlsKey !== undefined
      ? { crt: await readFile(tlsCert), key: await readFile(tlsKey) }
      : undefined;
  const connection = await NativeConnection.connect({
    address,
    // Messages are small, and compression costs both ends more than it saves.
    grpcCompression: { codec: 'none' },
    ...(apiKey === undefined ? {} : { apiKey, tls: true }),
    ...(clientCertPair === undefined ? {} : { tls: { clientCertPair } }),
  });
  refuseCallsInTransactions(connection);
  const client = new Client({
    connection,
    namespace,
    interceptors: { workflow: interceptors },
    dataConverter: createDataConverter(payloadKeys),
  });
  return { connection, client };
}
