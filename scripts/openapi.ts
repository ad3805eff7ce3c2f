import { writeFile } from 'node:fs/promises';
import process from 'node:process';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { allRoutes } from '../src/api/server.ts';
import { parseSettings } from '../src/config.ts';
import { openDatabase } from '../src/db/database.ts';
import type { Listener } from '../src/db/listener.ts';
import { createCipher } from '../src/domain/cipher.ts';
import { createEvaluatorPool } from '../src/evaluators/threads/evaluator-pool.ts';
import { openApiDocument } from '../src/http/openapi.ts';
import { createModels } from '../src/models/create-models.ts';
import { createStartLimiter } from '../src/services/executions/creation/start-limiter.ts';
import { createIdentityProviders } from '../src/sign-in/providers.ts';
import { taskQueuesOf } from '../src/temporal/names.ts';
import { projectVersion } from '../src/version.ts';

/**
 * Prints the OpenAPI document that the service serves at `/openapi.json`, or writes it to a file. Makes no connections.
 * @param file default: standard output
 */
async function main(file: string | undefined): Promise<void> {
  const settings = parseSettings({});
  const db = await openDatabase('postgresql://127.0.0.1/unused', { poolSize: 1 });
  const listener: Listener = { on() {}, onReconnected() {}, connected: () => false, close: async () => {} };
  const models = createModels(settings.models);
  const evaluatorPool = createEvaluatorPool({ onError() {} });
  const { routes } = allRoutes(
    {
      settings,
      allowPrivate: 'false',
      db,
      listener,
      startLimiter: createStartLimiter(listener),
      client: new Client({ connection: Connection.lazy() }),
      taskQueues: taskQueuesOf(undefined),
      models,
      evaluatorPool,
      cipher: createCipher([Buffer.alloc(32)]),
      identityProviders: createIdentityProviders(settings.signIn),
      log: pino({ level: 'silent' }),
    },
    { eager: false },
  );
  const document = JSON.stringify(openApiDocument(routes, projectVersion()), undefined, 2);
  if (file === undefined) console.log(document);
  else await writeFile(file, `${document}\n`);
  await evaluatorPool.close();
  await models.close();
  await db.close();
}

await main(process.argv[2]);
