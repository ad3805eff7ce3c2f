import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { type Cli, startCli } from './support.ts';

let service: TestService;
let cli: Cli;
beforeAll(async () => {
  service = await startTestService();
  await service.call('POST', '/prompts', { body: { name: 'say', template: 'Say {{ q }}', model: 'sandbox/echo' } });
  await service.call('PUT', '/datasets/words', {
    raw: Array.from({ length: 160 }, (_, q) => JSON.stringify({ variables: { q }, expected: 'x' })).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  cli = await startCli(service);
});
afterEach(() => cli?.remove());

const SEARCH = {
  prompt_name: 'say',
  dataset: 'words',
  evaluators: [{ type: 'contains' }],
  reflection: { model: 'sandbox/echo' },
  max_cost: null,
  few_shot: 1,
  max_proposals: 4,
};

async function pms(...args: string[]) {
  const { status, stdout, stderr } = await cli.pms(['improve', ...args]);
  return { status, said: stdout + stderr };
}

test('a search is estimated, started, watched, accepted and deleted', async () => {
  const file = path.join(cli.folder, 'search.json');
  await writeFile(file, JSON.stringify(SEARCH));
  expect(await pms('estimate', file)).toMatchObject({
    status: 0,
    said: expect.stringMatching(/held out\n.*4 reflections/),
  });

  // The sandbox model rewrites nothing, and shown examples do not change its answers.
  const started = await pms('start', file, '--wait');
  expect(started).toMatchObject({ status: 1, said: expect.stringContaining('no_candidate: ') });
  const id = /imp_[\w-]+/.exec(started.said)?.[0] ?? '';
  expect(await pms('status', id)).toMatchObject({ status: 0, said: expect.stringContaining('completed') });
  expect((await pms('list')).said).toMatch(new RegExp(`${id} +say 1 +completed +no_candidate`));
  const { said } = await pms('candidates', id);
  expect(said).toMatch(/^candidate +parent +kind/);
  expect(said).toContain('few_shot');

  expect(await pms('pause', id)).toMatchObject({ status: 2 });
  const refused = await pms('accept', id, '--candidate', '3');
  expect(refused).toMatchObject({ status: 2, said: expect.stringContaining('unproved') });
  expect(await pms('accept', id, '--candidate', '3', '--unproved')).toMatchObject({
    status: 0,
    said: 'Created version 2 of say\n',
  });
  expect(await pms('delete', id, '--yes')).toMatchObject({ status: 0 });
  expect(await pms('status', id)).toMatchObject({ status: 2 });
});

test('a file without the fields is refused by the service', async () => {
  const file = path.join(cli.folder, 'search.yaml');
  await writeFile(file, 'prompt_name: say\n');
  expect(await pms('start', file)).toMatchObject({ status: 2, said: expect.stringContaining('dataset') });
});
