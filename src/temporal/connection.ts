import { readFile } from 'node:fs/promises';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Settings } from '../config.ts';
import { refuseInTransaction } from '../lib/transaction-scope.ts';
import { createDataConverter } from './data-converter.ts';

/** Every call of the client goes through these two services; workers have ways of their own. */
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
 * One connection a process, shared by client and workers: only so can a workflow's first task be handed to a worker of the
 * same process at once (eager start).
 * @param address host:port
 * @param interceptors of what the client does with workflows
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
    // What is sent is small, and compressing costs both ends more than it saves.
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
