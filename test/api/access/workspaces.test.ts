import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signIn } from '../../support/members.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  type Api,
  BY_MEMBER,
  BY_SESSION,
  createResources,
  type Operation,
  type Resources,
  readApi,
} from '../operations.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
let api: Api;
let resources: Resources;
let other: Awaited<ReturnType<typeof createOtherWorkspace>>;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  api = await readApi(service.origin);
  resources = await createResources(service, api);
  other = await createOtherWorkspace(service, 'other');
});
afterAll(() => service?.stop());

const takesStream = ({ requestBody, example }: Operation) => requestBody !== undefined && example === undefined;
const creates = (operation: Operation) =>
  takesStream(operation) ||
  operation.status === '201' ||
  ['protectLabel', 'setScoreDefinition', 'setMonitor', 'setQueue', 'setRule', 'setSavedEvaluator', 'setView'].includes(
    operation.operationId,
  );

/** Everything in the first workspace that it can read. */
async function readAll() {
  // A stream repeats the execution's record, and ends only with it: no worker runs here to end it.
  const readable = api.operations.filter(({ method, responses }) => {
    return method === 'GET' && responses['200']?.content['application/json'] !== undefined;
  });
  const bodies = await Promise.all(
    readable.map(async (operation) => {
      const key = BY_MEMBER.test(operation.path) ? resources.memberKey : service.key;
      const { body } = await service.call('GET', resources.fill(operation), { key });
      // Reading changes when a key was last used, and the end of a sum without one.
      return [
        operation.operationId,
        JSON.stringify(body).replaceAll(/"(last_used_at|last_seen_at|since|until)":("[^"]*"|null)/g, ''),
      ];
    }),
  );
  return Object.fromEntries(bodies);
}

test('no operation reaches another workspace with a key', async () => {
  const before = await readAll();
  const { key: theirMember } = await signIn(service, [{ workspace: 'other', role: 'admin' }]);
  const named = api.operations
    .filter(({ path }) => path.includes('{'))
    // Creations come last, so that the others do not find their results.
    .toSorted((a, b) => Number(creates(a)) - Number(creates(b)));
  expect(named.length).toBeGreaterThan(10);
  for (const operation of named) {
    const { method, path, example, operationId } = operation;
    const { status, body } = await other.call(method, resources.fill(operation), {
      ...(takesStream(operation)
        ? { raw: '{"variables":{}}\n', headers: { 'Content-Type': 'application/x-ndjson' } }
        : { body: example }),
      ...(BY_MEMBER.test(path) && { key: theirMember }),
    });
    // A resource created under a chosen name belongs to the other workspace, and leaves this one's unchanged.
    if (creates(operation)) {
      for (const id of resources.ids)
        expect([operationId, JSON.stringify(body)]).toEqual([operationId, expect.not.stringContaining(id)]);
      // Its dataset of that name has the examples that were added to it by then.
      const version = operationId === 'uploadDataset' ? 2 : 1;
      expect([operationId, body.version ?? version]).toEqual([operationId, version]);
    } else if (BY_SESSION.has(operationId)) expect([operationId, status]).toEqual([operationId, 400]);
    else expect([operationId, path, status, body.error?.code]).toEqual([operationId, path, 404, 'not_found']);
  }
  expect(await readAll()).toEqual(before);
});

test('lists and sums show nothing of other workspaces', async () => {
  const stranger = await createOtherWorkspace(service, 'stranger');
  const lists = api.operations.filter(
    // The session, the current key, the caller and personal keys belong to the caller; the stream of changes has its own test; providers
    // are configured by the operator, evaluators are the same for all workspaces; an agreement is requested by name.
    ({ method, path, operationId }) =>
      method === 'GET' &&
      !path.includes('{') &&
      ![
        'getSession',
        'getCurrentApiKey',
        'getMe',
        'listMyApiKeys',
        'listProviders',
        'listEvaluators',
        'getEvaluatorAgreement',
        'streamChanges',
      ].includes(operationId),
  );
  expect(lists.length).toBeGreaterThan(3);
  for (const { path, operationId } of lists) {
    const { status, body } = await stranger.call('GET', path);
    expect([operationId, status]).toEqual([operationId, 200]);
    // Counts by filter are not a list.
    expect((body.data ?? []).length).toBeLessThanOrEqual(operationId === 'listApiKeys' ? 1 : path === '/usage' ? 1 : 0);
    for (const trace of [...resources.ids, 'support/']) expect(JSON.stringify(body)).not.toContain(trace);
  }
  const archived = await stranger.call('GET', '/prompts?archived=all');
  expect(archived.body.data).toEqual([]);
});

test('two workspaces can use the same names', async () => {
  const body = { name: 'support/greeting', template: 'Theirs.', model: 'sandbox/echo' };
  expect((await other.call('POST', '/prompts', { body })).body).toMatchObject({ version: 1, labels: [] });
  expect((await service.call('GET', '/prompts/support/greeting')).body.template).not.toBe('Theirs.');
  expect(
    (await other.call('POST', '/executions', { body: { prompt_name: body.name }, headers: { Prefer: 'wait=0' } })).body
      .input,
  ).toBe('Theirs.');
});
