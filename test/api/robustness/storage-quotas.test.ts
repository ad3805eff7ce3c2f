import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expireAuditLog, expireExecutions } from '../../../src/jobs/retention.ts';
import { sumUpStorage } from '../../../src/jobs/sum-up-storage.ts';
import { COUNTS } from '../../../src/services/workspaces/quota-list.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/wait-for.ts';
import { createOtherWorkspace } from '../workspace.ts';

const KIB = 1024;
const NEVER = new AbortController().signal;

let service: TestService;
let call: TestService['call'];
let workspaceId: string;
beforeAll(async () => {
  service = await startTestService({
    QUOTA_EXECUTION_BYTES: '256KiB',
    QUOTA_AUDIT_BYTES: '64KiB',
    QUOTA_DATASET_BYTES: '64KiB',
  });
  ({ call } = service);
  await call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ text }}', model: 'sandbox/echo' } });
  const { db } = service.dependencies;
  const [row] = await db.system.query<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
  workspaceId = row?.id ?? '';
});
afterAll(() => service?.stop());

const run = (characters: number, caller = call) =>
  caller('POST', '/executions', { body: { prompt_name: 'say', variables: { text: 'x'.repeat(characters) } } });

async function counted(name: 'executionBytes' | 'auditBytes'): Promise<number> {
  const [row] = await service.dependencies.db.workspace(workspaceId).query(COUNTS[name], {});
  return row?.count ?? 0;
}

/** The actual size of the workspace's rows. */
async function stored(): Promise<number> {
  const [row] = await service.dependencies.db.system.query<{ bytes: number }>(
    {
      text: `select ((select coalesce(sum(bytes + 1024), 0) from executions where workspace_id = $1)
        + (select coalesce(sum(octet_length(content::text) + octet_length(includes::text) + octet_length(evaluators::text)
           + octet_length(metadata::text) + 1024), 0) from evaluations where workspace_id = $1)
        + (select coalesce(sum(r.bytes + 1024), 0) from evaluation_results r join evaluations e on e.id = r.evaluation_id
           where e.workspace_id = $1))::bigint as bytes`,
    },
    [workspaceId],
  );
  return Number(row?.bytes);
}

test('stored data of runs is counted, whatever happens to it', async () => {
  const { body: execution } = await run(3_000);
  expect(execution.status).toBe('completed');
  expect(await counted('executionBytes')).toBe(await stored());
  expect(await counted('executionBytes')).toBeGreaterThan(3 * 3_000 + KIB);
  const examples = [{ variables: { text: 'x'.repeat(5_000) } }, { variables: { text: 'y' } }];
  const { body: evaluation } = await call('POST', '/evaluations', { body: { prompt_name: 'say', examples } });
  await until('the end of the evaluation', async () => {
    const { body } = await call('GET', `/evaluations/${evaluation.id}`);
    return body.status === 'completed' ? body : undefined;
  });
  expect(await counted('executionBytes')).toBe(await stored());
  await sumUpStorage(service.dependencies.db.system);
  expect(await counted('executionBytes')).toBe(await stored());
  expect((await call('DELETE', `/evaluations/${evaluation.id}`)).status).toBe(200);
  expect((await call('DELETE', `/executions/${execution.id}`)).status).toBe(200);
  expect([await stored(), await counted('executionBytes')]).toEqual([0, 0]);
});

test('examples that do not fit are refused before they are written: rolled back rows use disk, too', async () => {
  const variables = { text: Array.from({ length: 30_000 }, () => Math.random().toString(36).slice(2, 6)).join('') };
  const written = async () => {
    const text = `select pg_total_relation_size('dataset_examples')::int as bytes`;
    return (await service.dependencies.db.system.query<{ bytes: number }>({ text }))[0]?.bytes;
  };
  const upload = { raw: JSON.stringify({ variables }), headers: { 'Content-Type': 'application/x-ndjson' } };
  const examples = [{ variables }];
  const scores = [{ name: 'correct' }];
  const before = await written();
  const refused = [
    await call('PUT', '/datasets/large', upload),
    await call('PUT', '/datasets/large?mode=add', upload),
    await call('POST', '/datasets/large/examples', { body: { examples } }),
    await call('POST', '/evaluations', { body: { prompt_name: 'say', examples } }),
    await call('POST', '/evaluations/code', { body: { name: 'large', scores, examples } }),
  ];
  expect(refused.map(({ body }) => body.error.code)).toEqual(refused.map(() => 'quota_exceeded'));
  expect(await written()).toBe(before);
});

test('drafts of evaluations are refused when the quota is used up', async () => {
  const evaluation = {
    prompt_name: 'say',
    draft: { template: 'x'.repeat(30_000), model: 'sandbox/echo' },
    examples: [{ variables: {} }],
    evaluators: [{ type: 'exact_match' }],
    start_at: '2099-01-01T00:00:00Z',
  };
  const before = await counted('executionBytes');
  const ids: string[] = [];
  const refused = await until('the quota to be used up', async () => {
    const { status, body } = await call('POST', '/evaluations', { body: evaluation });
    if (status !== 201) return { status, body };
    ids.push(body.id);
    return undefined;
  });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded']);
  // 256 KiB, of which each draft takes slightly more than 30,000 bytes.
  expect(ids.length).toBeLessThanOrEqual(9);
  for (const id of ids) {
    expect((await call('POST', `/evaluations/${id}/cancel`)).status).toBe(200);
    expect((await call('DELETE', `/evaluations/${id}`)).status).toBe(200);
  }
  await until('room', async () => ((await counted('executionBytes')) === before ? true : undefined));
});

test('data waiting for rules is counted until it is done', async () => {
  const { query } = service.dependencies.db.system;
  const before = await counted('executionBytes');
  const item = `select $1::uuid, '00000000-0000-7000-8000-000000000001'::uuid, gen_random_uuid(), now()`;
  await query(
    {
      text: `insert into rule_items (workspace_id, work_id, execution_id, created_at) ${item} from generate_series(1, 100)`,
    },
    [workspaceId],
  );
  expect(await counted('executionBytes')).toBe(before + 100 * 256);
  // No rule has them: they are deleted within seconds.
  await until('the end of the items', async () => (await counted('executionBytes')) === before || undefined);
});

test('a workspace whose runs use too many bytes begins none, until some are deleted or expire', async () => {
  const ids: string[] = [];
  const refused = await until('the quota to be used up', async () => {
    const answer = await run(20_000);
    if (answer.status === 201) ids.push(answer.body.id);
    return answer.status === 201 ? undefined : answer;
  });
  expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded']);
  expect(refused.body.error.message).toMatch(
    /262144 bytes in executions.*DELETE \/v1\/executions.*EXECUTION_RETENTION.*QUOTA_EXECUTION_BYTES/,
  );
  const evaluation = { prompt_name: 'say', examples: [{ variables: { text: 'x' } }] };
  expect((await call('POST', '/evaluations', { body: evaluation })).body.error?.code).toBe('quota_exceeded');
  const other = await createOtherWorkspace(service, 'has-bytes');
  await other.call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ text }}', model: 'sandbox/echo' } });
  expect((await run(20_000, other.call)).status).toBe(201);

  // Some were stored before it was counted again.
  for (const id of ids.slice(1)) expect((await call('DELETE', `/executions/${id}`)).status).toBe(200);
  await until('room', async () => ((await run(1)).status === 201 ? true : undefined));
  const { system } = service.dependencies.db;
  // As if it was an hour later.
  await expireExecutions(system, -60 * 60_000, NEVER);
  expect(await counted('executionBytes')).toBe(await stored());
});

test('a full audit log refuses what would grow it endlessly: keys can be revoked, admins act for a while', async () => {
  const { body: toDelete } = await call('POST', '/api-keys', { body: { name: 'toDelete', scopes: ['read'] } });
  const { body: writer } = await call('POST', '/api-keys', { body: { name: 'writer', scopes: ['read', 'write'] } });
  const move = (key?: string) => async () => {
    const answers = [];
    for (const version of [1, 2])
      answers.push(await call('PUT', '/prompts/say/labels/live', { body: { version }, ...(key && { key }) }));
    return answers.find(({ status }) => status !== 200);
  };
  await call('PUT', '/prompts/say', { body: { template: 'Say it: {{ text }}' } });
  const refused = await until('the audit log to be full', move(writer.key));
  expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded']);
  expect(refused.body.error.message).toMatch(/65536 bytes in the audit log.*AUDIT_RETENTION.*QUOTA_AUDIT_BYTES/);
  // Nothing was changed without an entry.
  const { body: log } = await call('GET', '/audit-log?action=label.moved&limit=1');
  expect(log.data[0].details.version).toBe((await call('GET', '/prompts/say?label=live')).body.version);
  expect((await run(1)).status).toBe(201);
  expect((await call('PUT', '/prompts/say/labels/admin', { body: { version: 1 } })).status).toBe(200);
  expect((await until('the reserve to be used up', move())).status).toBe(429);
  expect((await call('DELETE', `/api-keys/${toDelete.id}`)).status).toBe(200);
  expect((await call('GET', '/prompts', { key: toDelete.key })).status).toBe(401);
  expect(await counted('auditBytes')).toBeLessThan(1.2 * 64 * KIB);

  await sumUpStorage(service.dependencies.db.system);
  await expireAuditLog(service.dependencies.db.system, -60 * 60_000, NEVER);
  expect(await counted('auditBytes')).toBe(0);
  expect(await move(writer.key)()).toBeUndefined();
});
