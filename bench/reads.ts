import path from 'node:path';
import process from 'node:process';
import { pino } from 'pino';
import { type Database, openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { publicId } from '../src/domain/ids.ts';
import { sumUpPromptDays } from '../src/jobs/sum-up-prompt-days.ts';
import { sumUpUsage } from '../src/jobs/sum-up-usage.ts';
import { seedDeliveries, seedEvaluation, seedExecutions, seedPrompts } from '../test/support/seed-rows.ts';
import { type Outcome, type Row, row } from './report.ts';
import type { Servers } from './servers.ts';
import { type Service, startService } from './service.ts';

/** Number of executions; there are twice as many results, and half as many deliveries. `READS_ROWS` overrides it. */
const ROWS = Number(process.env['READS_ROWS'] ?? 1_000_000);
/** Enough for the small database to return full pages. */
const SMALL_ROWS = 2_000;
/** In each workspace of both databases. */
const PROMPTS = 2_000;
const DAYS = 90;
const ROUNDS = Number(process.env['READS_ROUNDS'] ?? 100);
/** The share of executions and results that belong to the workspace being read. */
const OWN_SHARE = 0.7;

interface Seeded {
  execution: string;
  evaluation: string;
  webhook: string;
  delivery: string;
  event: string;
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** Every read, with each filter alone and with likely pairs. */
function readsOf({ execution, evaluation, webhook, delivery, event }: Seeded): string[] {
  const span = `since=${daysAgo(70)}&until=${daysAgo(65)}`;
  const results = `/evaluations/${evaluation}/results`;
  return [
    '/prompts',
    '/prompts?sort=-updated_at',
    '/prompts?q=seed',
    '/prompts?group=seed',
    '/prompts?model=sandbox/rare',
    '/prompts?label=rare',
    '/prompts/seed/0',
    '/prompts/seed/0/versions',
    `/executions/${execution}`,
    '/executions',
    '/executions?status=failed',
    '/executions?status=canceled',
    '/executions?status=queued',
    '/executions?prompt_name=seed/3',
    '/executions?prompt_name=rare',
    '/executions?model=sandbox/m1',
    '/executions?model=sandbox/rare',
    '/executions?recorded=true',
    '/executions?recorded=false',
    `/executions?${span}`,
    `/executions?${span}&status=failed`,
    `/executions?${span}&prompt_name=rare`,
    '/executions?prompt_name=seed/0&status=failed',
    '/executions?prompt_name=seed/3&status=failed',
    '/executions?prompt_name=rare&model=sandbox/m1',
    '/executions?prompt_name=seed/1&model=sandbox/m0',
    '/executions?model=sandbox/m1&status=canceled',
    '/usage',
    '/usage?group_by=',
    '/usage?group_by=model',
    `/usage?since=${daysAgo(89)}&group_by=prompt`,
    `/usage?since=${daysAgo(40)}&until=${daysAgo(30)}&group_by=day&prompt_name=seed/1`,
    '/statistics/prompts',
    '/statistics/prompts?limit=1000',
    `/statistics/prompts?since=${daysAgo(89)}`,
    '/statistics/prompts/seed/0',
    `/statistics/prompts/seed/0?since=${daysAgo(89)}`,
    '/evaluations',
    '/evaluations?status=failed',
    '/evaluations?prompt_name=seed/0',
    '/evaluations?dataset=seed',
    `/evaluations?${span}`,
    `/evaluations/${evaluation}`,
    results,
    `${results}?failed=true`,
    `${results}?failed=false`,
    `${results}?regression=true`,
    `${results}?regression=false`,
    `${results}?improvement=true`,
    `${results}?max_score=0.09`,
    `${results}?max_score=0&evaluator=exact_match`,
    `${results}?regression=true&max_score=0.5`,
    `${results}?example_id=none`,
    `${results}/1000`,
    '/datasets',
    '/schedules',
    '/webhooks',
    `/webhooks/${webhook}`,
    `/webhooks/${webhook}/deliveries`,
    `/webhooks/${webhook}/deliveries?status=failed`,
    `/webhooks/${webhook}/deliveries?status=queued`,
    `/webhooks/${webhook}/deliveries?event=prompt.updated`,
    `/webhooks/${webhook}/deliveries?${span}`,
    `/deliveries/${delivery}`,
    '/events',
    '/events?event=prompt.updated',
    '/events?event=evaluation.completed',
    `/events?${span}`,
    `/events/${event}`,
    '/notifications',
    '/api-keys',
  ];
}

/** The rows that the triggers would have written, an entry for each hour. */
const USAGE_ENTRIES = {
  text: `insert into usage_entries (workspace_id, kind, prompt_name, model, created_at, calls, completed, failed, tokens_input, tokens_output,
           tokens_cached_input, tokens_reasoning, cost_amount, priced, unpriced, timed, model_ms)
         select workspace_id, kind, prompt_name, model, date_trunc('hour', created_at), count(*), count(*) filter (where status = 'completed'),
           count(*) filter (where status = 'failed'), sum(tokens_input), sum(tokens_output), sum(tokens_cached_input), sum(tokens_reasoning),
           coalesce(sum(cost_amount), 0), count(cost_amount), count(*) filter (where answered and cost_amount is null),
           count(model_ms), coalesce(sum(model_ms), 0)
         from (
           select workspace_id, created_at, 'execution' as kind, prompt_name, model, status, answered_at is not null as answered,
             tokens_input, tokens_output, tokens_cached_input, tokens_reasoning, cost_amount, model_ms
           from executions
           union all
           select e.workspace_id, r.created_at, 'example', e.prompt_name, e.model, null, r.finish_reason is not null,
             r.tokens_input, r.tokens_output, r.tokens_cached_input, r.tokens_reasoning, r.cost_amount, r.model_ms
           from evaluations e join evaluation_results r on r.evaluation_id = e.id
         ) as calls group by 1, 2, 3, 4, 5`,
};

async function seed(db: Database, rows: number): Promise<Seeded> {
  const { query } = db.system;
  const seeded = await db.system.transaction(
    async (inner) => {
      const [own] = await inner<{ id: string }>({ text: 'select id from workspaces' });
      if (own === undefined) throw new Error('The service has made no workspace.');
      const workspaces = [own.id];
      for (const name of ['b', 'c', 'd']) {
        const [made] = await inner<{ id: string }>(
          {
            text: `insert into workspaces (id, name, owner_email, created_at)
                   values (gen_random_uuid(), $1, 'owner@example.test', now()) returning id`,
          },
          [name],
        );
        workspaces.push(made?.id ?? '');
      }
      // Triggers would take most of the time.
      await inner({ text: 'set local session_replication_role = replica' });
      const ids = { evaluation: '', webhook: '' };
      for (const [index, workspaceId] of workspaces.entries()) {
        const share = index === 0 ? OWN_SHARE : (1 - OWN_SHARE) / 3;
        const count = Math.round(rows * share);
        await seedPrompts(inner, { workspaceId, count: PROMPTS, days: DAYS });
        await seedExecutions(inner, { workspaceId, count, days: DAYS });
        const evaluation = await seedEvaluation(inner, { workspaceId, count: 2 * count, days: DAYS });
        for (let run = 0; run < 300; run += 1)
          await seedEvaluation(inner, { workspaceId, count: 1, days: 1 + (run % DAYS), status: 'canceled' });
        const webhook = await seedDeliveries(inner, { workspaceId, count: Math.round(count / 2), days: DAYS });
        if (index === 0) Object.assign(ids, { evaluation, webhook });
      }
      await inner(USAGE_ENTRIES);
      const first = async (table: string) => {
        const [found] = await inner<{ id: string }>(
          { text: `select id from ${table} where workspace_id = $1 order by id limit 1` },
          [own.id],
        );
        return found?.id ?? '';
      };
      return {
        execution: publicId('execution', await first('executions')),
        evaluation: publicId('evaluation', ids.evaluation),
        webhook: publicId('webhook', ids.webhook),
        delivery: publicId('delivery', await first('deliveries')),
        event: publicId('event', await first('events')),
      };
    },
    { statementTimeoutMs: 0 },
  );
  // A worker may be doing it, too.
  const left = { text: 'select 1 from usage_entries where not summed limit 1' };
  do await sumUpUsage(db.system);
  while ((await query(left)).length > 0);
  await sumUpPromptDays(db.system, pino({ level: 'warn' }));
  return seeded;
}

const p95 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;

/** Reads with {@link ROWS} rows compared with the same reads of a small database, in turns. */
export async function measureReads(servers: Servers): Promise<Outcome> {
  const smallUrl = servers.databaseUrl.replace(/[^/]+$/, 'pms_small');
  await migrate(smallUrl);
  const sides: { service: Service; db: Database; reads: string[] }[] = [];
  const open = async (databaseUrl: string, name: string, rows: number) => {
    const service = await startService(
      { ...servers, databaseUrl, folder: path.join(servers.folder) },
      { TEMPORAL_TASK_QUEUE_PREFIX: name },
    );
    const db = await openDatabase(databaseUrl, { poolSize: 2, statementTimeoutMs: 0 });
    const seeded = await seed(db, rows);
    await db.system.query({ text: 'vacuum analyze' });
    sides.push({ service, db, reads: readsOf(seeded) });
  };
  await open(smallUrl, 'small', SMALL_ROWS);
  await open(servers.databaseUrl, 'full', ROWS);
  const rows: Row[] = [];
  try {
    for (let read = 0; read < (sides[0]?.reads.length ?? 0); read += 1) {
      const timesMs = sides.map(() => [] as number[]);
      for (let round = -5; round < ROUNDS; round += 1)
        for (const [side, { service, reads }] of sides.entries()) {
          const started = performance.now();
          await service.call('GET', reads[read] ?? '');
          if (round >= 0) timesMs[side]?.push(performance.now() - started);
        }
      const [small, full] = timesMs.map(p95);
      const name = (sides[1]?.reads[read] ?? '')
        .replaceAll(/_?[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
        .replaceAll(/T[\d:.]+Z/g, '');
      const times = `${small?.toFixed(1)} ms → ${full?.toFixed(1)} ms`;
      console.error(`${name}: ${times}`);
      rows.push(row(`${name} (${times})`, 'times', [(full ?? 0) / (small ?? 1)], { atMost: 2 }));
    }
  } finally {
    for (const { service, db } of sides) {
      await service.stop();
      await db.close();
    }
  }
  return { benchmark: `reads (p95 at ${ROWS} executions to p95 at ${SMALL_ROWS})`, rows };
}
