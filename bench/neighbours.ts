import { readFile } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import process from 'node:process';
import { openDatabase } from '../src/db/database.ts';
import { publicId } from '../src/domain/ids.ts';
import {
  seedAuditLog,
  seedDeliveries,
  seedEvaluation,
  seedExecutions,
  seedPrompts,
} from '../test/support/seed-rows.ts';
import { type Attack, attacksByKey, attacksByMcp, attacksByStrangers, type Document } from './attacks.ts';
import { type Helper, startHelper } from './child.ts';
import { type Load, LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row } from './report.ts';
import { neighbourKey } from './second-workspace.ts';
import type { Servers } from './servers.ts';
import { type Service, startApi, startWorker } from './service.ts';
import { quantile } from './statistics.ts';

/** Duration of each attack. `NEIGHBOURS_SECONDS` overrides it. */
const SECONDS = Number(process.env['NEIGHBOURS_SECONDS'] ?? 10);
const CONNECTIONS = Number(process.env['NEIGHBOURS_CONNECTIONS'] ?? 300);
/** Runs only attacks whose name matches. */
const NAMES = new RegExp(process.env['NEIGHBOURS_ATTACKS'] ?? '');
const READS_PER_SECOND = 20;
/** Time until every connection of the attack is open. */
const LEAD_MS = 1_000;
const AT_MOST_MS = 300;
/** Rows of the attacking workspace. */
const ROWS = 5_000;

/** Creates the resources that attacks name and that the documented samples need. @returns ids for paths */
async function seed(service: Service, databaseUrl: string): Promise<Record<string, string>> {
  const prompt = { name: 'support/greeting', template: 'Hello {{ name }}!', model: 'sandbox/echo' };
  await service.call('POST', '/prompts', prompt);
  await service.call('POST', '/prompts', { ...prompt, base_version: 1, template: 'Hi {{ name }}!' }).catch(() => {});
  const examples = Array.from({ length: 200 }, (_, index) => ({ id: `${index}`, variables: { name: `Ada ${index}` } }));
  const put = await fetch(`${service.origin}/v1/datasets/support/questions`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/x-ndjson' },
    body: examples.map((each) => JSON.stringify(each)).join('\n'),
  });
  if (!put.ok) throw new Error(`The dataset was not stored: ${await put.text()}`);
  await service.call('PUT', '/score-definitions/helpful', { data_type: 'numeric' });
  await service.call('PUT', '/queues/unhelpful', { score_names: ['helpful'] });
  const db = await openDatabase(databaseUrl, { poolSize: 2, statementTimeoutMs: 0 });
  try {
    return await db.system.transaction(async (query) => {
      const [own] = await query<{ id: string }>({
        text: "select workspace_id as id from prompts where name = 'support/greeting'",
      });
      const workspaceId = own?.id ?? '';
      const rows = { workspaceId, count: ROWS, days: 30 };
      await query({ text: 'set local session_replication_role = replica' });
      await seedPrompts(query, rows);
      await seedExecutions(query, rows);
      await seedAuditLog(query, rows);
      const [evaluation, other] = [await seedEvaluation(query, rows), await seedEvaluation(query, rows)];
      const webhook = await seedDeliveries(query, rows);
      const first = async (table: string) => {
        const text = `select id from ${table} where workspace_id = $1 order by id limit 1`;
        return (await query<{ id: string }>({ text }, [workspaceId]))[0]?.id ?? '';
      };
      return {
        name: 'support/greeting',
        version: '1',
        label: 'production',
        'datasets.name': 'support/questions',
        'queues.name': 'unhelpful',
        'score-definitions.name': 'helpful',
        'evaluations.id': publicId('evaluation', evaluation),
        other: publicId('evaluation', other),
        seq: '1',
        'executions.id': publicId('execution', await first('executions')),
        'webhooks.id': publicId('webhook', webhook),
        'deliveries.id': publicId('delivery', await first('deliveries')),
        'events.id': publicId('event', await first('events')),
      };
    });
  } finally {
    await db.close();
  }
}

/** @returns latencies of the neighbor's reads during the attack, and the responses to the attack */
async function attack(
  { origin }: Service,
  { attacker, neighbour, read }: { attacker: Helper; neighbour: Helper; read: Load },
  { path, method, headers, body }: Attack,
) {
  const load = { url: `${origin}${path}`, method, headers, body, callers: CONNECTIONS };
  const attacking = attacker.ask({ ...load, seconds: SECONDS + LEAD_MS / 1000 }, LoadResult);
  attacking.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
  const { latenciesMs, cpuMs = [] } = await neighbour.ask({ ...read, seconds: SECONDS }, LoadResult);
  const { requests, seconds, statuses = {} } = await attacking;
  const answers = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return { latenciesMs, cpuMs, answers: `${Math.round(requests / seconds)}/s: ${answers.join(', ')}` };
}

/** Reads of one workspace while another, or a stranger, repeats one request on {@link CONNECTIONS} connections, without rate limits. */
export async function measureNeighbours(servers: Servers, { report, profileFolder }: Means): Promise<Outcome> {
  const service = await startApi(servers, {}, profileFolder);
  const worker = await startWorker(servers);
  const [attacker, neighbour] = [await startHelper('http-load.ts'), await startHelper('http-load.ts')];
  // The attacker would run on another machine, so it gets only spare CPU time.
  setPriority(attacker.pid, Math.min(19, getPriority() + 5));
  try {
    const ids = await seed(service, servers.databaseUrl);
    const key = await neighbourKey(servers.databaseUrl);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const made = await fetch(`${service.origin}/v1/prompts`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'greeting', template: 'Hello {{ name }}!', model: 'sandbox/echo' }),
    });
    if (!made.ok) throw new Error(`The neighbour's prompt was not made: ${await made.text()}`);
    const read: Load = {
      url: `${service.origin}/v1/prompts/greeting`,
      method: 'GET',
      headers,
      callers: 50,
      perSecond: READS_PER_SECOND,
      cpuOf: service.pid,
      expect: '"greeting"',
    };
    const document: Document = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8'));
    const attacks = [
      ...attacksByStrangers(),
      ...attacksByMcp(service.key),
      ...attacksByKey(document, service.key, ids),
    ];
    await neighbour.ask({ ...read, seconds: SECONDS }, LoadResult);
    const alone = await neighbour.ask({ ...read, seconds: SECONDS }, LoadResult);
    const rows: Row[] = [row('nothing', 'ms', [quantile(alone.latenciesMs, 0.99)])];
    for (const each of attacks.filter(({ name }) => NAMES.test(name))) {
      const { latenciesMs, cpuMs, answers } = await attack(service, { attacker, neighbour, read }, each);
      const [p50, p99, cpu] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99), quantile(cpuMs, 0.99)];
      const times = [p50, p99, cpu].map((ms) => `${ms.toFixed(0)} ms`);
      report(`${each.name}: p50 ${times[0]}, p99 ${times[1]}, CPU time of the API until then ${times[2]} (${answers})`);
      rows.push(row(each.name, 'ms', [p99], { below: AT_MOST_MS }));
    }
    return { benchmark: `neighbours (p99 of reads while ${CONNECTIONS} connections send …)`, rows };
  } finally {
    await attacker.stop();
    await neighbour.stop();
    await service.stop();
    await worker.stop();
  }
}
