import process from 'node:process';
import { openDatabase } from '../src/db/database.ts';
import { expireExecutions } from '../src/jobs/retention.ts';
import { seedExecutions } from '../test/support/seed-rows.ts';
import { startHelper } from './child.ts';
import { executionLoad, LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, ratioRow, row } from './report.ts';
import type { Servers } from './servers.ts';
import { startService } from './service.ts';
import { startModel } from './stand-in.ts';
import { quantile } from './statistics.ts';

/** Number of expired executions. `RETENTION_ROWS` overrides it. */
const ROWS = Number(process.env['RETENTION_ROWS'] ?? 1_000_000);
const ROUNDS = 9;
const SECONDS = 8;
const CALLERS = 20;
const MODEL_MS = 200;
const DAY_MS = 86_400_000;

/** 20 callers of the service with and without the deletion of expired executions beside them, in turns. */
export async function measureRetention(servers: Servers, { rounds = ROUNDS, profileFolder }: Means): Promise<Outcome> {
  const model = await startModel(MODEL_MS);
  const service = await startService(servers, model.settings, profileFolder);
  const http = await startHelper('http-load.ts');
  const db = await openDatabase(servers.databaseUrl, { poolSize: 1, statementTimeoutMs: 0 });
  try {
    await service.call('POST', '/prompts', {
      name: 'bench',
      template: 'Greet {{ name }} in one sentence.',
      model: 'openai/gpt-4o-mini',
    });
    const { query } = db.system;
    const [own] = await query<{ id: string }>({ text: 'select id from workspaces' });
    await db.system.transaction(
      async (inner) => {
        // Triggers would take most of the time of seeding; those of the deletion run.
        await inner({ text: 'set local session_replication_role = replica' });
        await seedExecutions(inner, { workspaceId: own?.id ?? '', count: ROWS, days: 90 });
      },
      { statementTimeoutMs: 0 },
    );
    await query({ text: 'vacuum analyze executions' });
    const left = async () =>
      Number(
        (await query<{ n: string }>({ text: `select count(*) as n from executions where model like 'sandbox/m%'` }))[0]
          ?.n,
      );
    const measured = { without: [] as LoadResult[], beside: [] as LoadResult[] };
    const deleted: number[] = [];
    const load = () => http.ask({ ...executionLoad(service), callers: CALLERS, seconds: SECONDS }, LoadResult);
    await load();
    for (let round = 0; round < rounds; round += 1) {
      measured.without.push(await load());
      const before = await left();
      const stopping = new AbortController();
      const work = expireExecutions(db.system, DAY_MS, stopping.signal);
      measured.beside.push(await load());
      stopping.abort();
      await work;
      deleted.push((before - (await left())) / SECONDS);
    }
    const rates = (side: keyof typeof measured) => measured[side].map(({ requests, seconds }) => requests / seconds);
    const p95s = (side: keyof typeof measured) => measured[side].map(({ latenciesMs }) => quantile(latenciesMs, 0.95));
    return {
      benchmark: `retention (${ROWS} expired executions, ${CALLERS} callers)`,
      rows: [
        row('executions without deletion', '/s', rates('without')),
        row('beside it', '/s', rates('beside')),
        ratioRow('rate beside it to without', rates('beside'), rates('without'), { atLeast: 0.9 }),
        row('p95 without', 'ms', p95s('without')),
        row('p95 beside it', 'ms', p95s('beside')),
        row('deleted', '/s', deleted),
      ],
    };
  } finally {
    await db.close();
    await http.stop();
    await service.stop();
    await model.stop();
  }
}
