import pg from 'pg';
import { z } from 'zod';
import { createQuery } from '../src/db/query.ts';
import { getPrompt } from '../src/services/prompts/prompts.ts';
import { startHelper, startListening } from './child.ts';
import { type Load, LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';

const ROUNDS = 7;
const SECONDS = 4;
const CALLERS = 20;
const NAME = 'bench/read';
const PlainStatement = z.object({ name: z.string(), text: z.string() });

/** The statement with which the service reads a prompt, captured from the service itself. */
async function statementOf(workspaceId: string): Promise<string> {
  let taken = '';
  const take = createQuery(async (statement, values) => {
    taken = JSON.stringify({ ...PlainStatement.parse(statement), values });
    return [];
  }, workspaceId);
  // It finds nothing, as expected.
  await getPrompt(take, NAME).catch(() => {});
  return taken;
}

async function onlyWorkspace(databaseUrl: string): Promise<string> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>('select id from workspaces');
    return z.tuple([z.object({ id: z.string() })]).parse(rows)[0].id;
  } finally {
    await client.end();
  }
}

/** Reading a prompt, with key and rate limit, compared with a bare Koa handler that makes the same query. */
export async function measurePromptRead(servers: Servers, { profileFolder }: Means): Promise<Outcome> {
  const service = await startService(servers, { RATE_LIMIT_PER_MINUTE: '100000000' }, profileFolder);
  const http = await startHelper('http-load.ts');
  await service.call('POST', '/prompts', {
    name: NAME,
    template: 'Greet {{ name }} in one sentence, in the tone of a {{ role }}.',
    model: 'sandbox/echo',
    parameters: { temperature: 0.2 },
  });
  const bare = await startListening('bare/koa.ts', [
    await statementOf(await onlyWorkspace(servers.databaseUrl)),
    servers.databaseUrl,
  ]);
  try {
    const common = { method: 'GET', callers: CALLERS, expect: `"name":"${NAME}"` } as const;
    const loads: Record<'service' | 'bare', Load> = {
      service: {
        ...common,
        url: `${service.origin}/v1/prompts/${NAME}`,
        headers: { authorization: `Bearer ${service.key}` },
      },
      bare: { ...common, url: `http://127.0.0.1:${bare.port}/v1/prompts/${NAME}`, headers: {} },
    };
    const perSecond = { service: [] as number[], bare: [] as number[] };
    for (const load of Object.values(loads)) await http.ask({ ...load, seconds: 2 }, LoadResult);
    for (let round = 0; round < ROUNDS; round += 1)
      for (const name of ['service', 'bare'] as const) {
        const { requests, seconds } = await http.ask({ ...loads[name], seconds: SECONDS }, LoadResult);
        perSecond[name].push(requests / seconds);
      }
    return {
      benchmark: 'prompt-read (GET /v1/prompts/{name}, 20 connections)',
      rows: [
        row('service', '/s', perSecond.service),
        row('bare Koa handler with the same query', '/s', perSecond.bare),
        ratioRow('service to bare', perSecond.service, perSecond.bare, { atLeast: 0.5 }),
      ],
    };
  } finally {
    await Promise.all([http.stop(), bare.stop()]);
    await service.stop();
  }
}
