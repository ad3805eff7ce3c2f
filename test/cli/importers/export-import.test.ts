import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Exported, exportWorkspace } from '../../../cli/src/export/export-workspace.ts';
import { apiWorkspace } from '../../../cli/src/importers/api-workspace.ts';
import { type Applied, applyPlan, describeStep } from '../../../cli/src/importers/apply.ts';
import { readSource } from '../../../cli/src/importers/import-source.ts';
import { planImport } from '../../../cli/src/importers/plan.ts';
import { formatReportLine } from '../../../cli/src/importers/report.ts';
import { importSettings } from '../../../cli/src/importers/settings.ts';
import type { Destination } from '../../../cli/src/importers/workspace.ts';
import { createOtherWorkspace } from '../../api/workspace.ts';
import { type Call, startTestService, type TestService } from '../../support/service.ts';
import { fetchTransport } from './service-transport.ts';
import { fixture, withFolder } from './support.ts';

let service: TestService;
let workspaces = 0;

beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(async () => {
  await service.stop();
});

interface Workspace {
  call: Call;
  destination: Destination;
}

async function newWorkspace(folder: string): Promise<Workspace> {
  workspaces += 1;
  const { key, call } = await createOtherWorkspace(service, `workspace-${workspaces}`);
  return { call, destination: apiWorkspace(fetchTransport(service.origin, key), path.join(folder, 'evaluations')) };
}

/** Plans and runs an import. @returns its steps in words, its report, its result */
async function runImport(source: string, location: string, { destination }: Workspace) {
  const settings = importSettings();
  const steps = await planImport(await readSource(source, location, settings), destination);
  const applied: Applied = await applyPlan(steps, destination);
  return { steps: steps.map(describeStep), report: settings.report.lines.map(formatReportLine), ...applied };
}

async function create(call: Call, method: string, target: string, body?: unknown): Promise<void> {
  const { status, body: answer } = await call(method, target, body === undefined ? {} : { body });
  if (status >= 300) throw new Error(JSON.stringify(answer));
}

/** A workspace with everything that an export must preserve. */
async function fill({ call }: Workspace): Promise<void> {
  const model = 'sandbox/echo';
  const prompt = (name: string, body: object) => create(call, 'POST', '/prompts', { name, model, ...body });
  await prompt('tone', {
    template: 'Be warm.  \r\n\tAlways. \n',
    description: 'How we speak',
    commit_message: 'First',
  });
  await prompt('a', { template: 'A without anything' });
  await prompt('b', { template: '{{> a }}' });
  await prompt('b', { template: 'B without anything' });
  // A circle, had they been written in another order.
  await prompt('a', { template: '{{> b }}' });
  await prompt('tone', {
    template: 'Be brief: {{ name }} \\{{ kept }}',
    fallback_models: ['sandbox/fail'],
    config: {},
  });
  await create(call, 'PUT', '/prompts/tone/labels/production', { version: 1 });
  await create(call, 'PUT', '/prompts/tone/labels/staging', { version: 2 });
  await prompt('support/answer', {
    messages: [
      { role: 'system', content: '{{> tone@production }}\n{{> tone@2 }}' },
      { placeholder: 'history', required: false },
      {
        role: 'user',
        content: [
          { type: 'text', text: '{{ question }}' },
          { type: 'file', media_type: 'image/png', variable: 'photo' },
        ],
      },
    ],
    tools: [{ name: 'look_up', input_schema: { type: 'object', properties: { q: { type: 'string' } } } }],
    tool_choice: 'auto',
    inputs: { question: { type: 'string', default: 'Why?\n', enum: ['Why?\n', 'How?'] } },
    parameters: { temperature: 0.2, stop: ['\n'] },
    config: { team: 'support', ünï: [1, null, 'two\nlines'] },
  });
  await prompt('old', { template: 'Gone' });
  await prompt('old', { template: 'Gone too' });
  await create(call, 'PUT', '/prompts/old/labels/last', { version: 1 });
  await create(call, 'DELETE', '/prompts/old');
  const lines = [
    { id: 'one', variables: { question: 'Où? 👋' }, expected: { a: [1.5, null] }, metadata: { area: 'x' } },
    { variables: { question: 'line\r\nends', n: 1e21 }, expected: null },
    { variables: {} },
    { variables: {} },
  ];
  const raw = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
  await call('PUT', '/datasets/support/cases', {
    raw: '{"variables":{}}',
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  await call('PUT', '/datasets/support/cases?description=Cases', {
    raw,
    headers: { 'Content-Type': 'application/x-ndjson' },
  });
  await create(call, 'POST', '/schedules', {
    name: 'Nightly',
    cron: '0 6 * * 1-5',
    time_zone: 'Europe/Berlin',
    paused: true,
    evaluation: { prompt_name: 'tone', label: 'production', dataset: 'support/cases', threshold: 0.5 },
  });
  await create(call, 'POST', '/webhooks', {
    url: 'http://127.0.0.1:18999/hook',
    events: ['prompt.created'],
    description: 'Ours',
    headers: { 'X-Team': 'a' },
  });
}

/** All files of a folder, without times. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    files[path.relative(folder, file)] = (await readFile(file, 'utf8')).replace(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"time"');
  }
  return files;
}

describe('an exported and imported workspace', () => {
  test('is the same in an empty one: versions and their numbers, labels, archived prompts, datasets, schedules, webhooks', async () => {
    await withFolder(async (folder) => {
      const from = await newWorkspace(folder);
      await fill(from);
      const first = path.join(folder, 'first');
      const exported: Exported = await exportWorkspace(first, from.destination);
      expect(exported).toEqual({ prompts: 5, versions: 9, datasets: 1, examples: 4 });

      const to = await newWorkspace(folder);
      const { failed, secrets, report } = await runImport('pms', first, to);
      expect(failed).toEqual([]);
      expect(secrets).toEqual([{ url: 'http://127.0.0.1:18999/hook', secret: expect.stringMatching(/^whsec_/) }]);
      expect(report.filter((line) => !line.endsWith(': taken unchanged'))).toEqual([
        'webhook http://127.0.0.1:18999/hook: taken with a change: a new secret is generated; its custom headers are left out: X-Team',
      ]);
      const second = path.join(folder, 'second');
      await exportWorkspace(second, to.destination);
      const [before, after] = [await filesOf(first), await filesOf(second)];
      // Datasets start with version 1, and header values are secrets.
      const plain = (files: Record<string, string>) =>
        JSON.parse(
          JSON.stringify(files)
            .replaceAll('cases@2', 'cases@1')
            .replaceAll(/\\"header_names\\": \[[^\]]*\]/g, ''),
        );
      expect(plain(after)).toEqual(plain(before));

      const again = await runImport('pms', first, to);
      expect(again.steps).toEqual([]);
      expect(again.report.filter((line) => !line.endsWith(': taken unchanged'))).toEqual([]);
    });
  });

  test('gets new versions only if the workspace has others', async () => {
    await withFolder(async (folder) => {
      const from = await newWorkspace(folder);
      await create(from.call, 'POST', '/prompts', { name: 'p', model: 'sandbox/echo', template: 'one' });
      await create(from.call, 'POST', '/prompts', { name: 'p', model: 'sandbox/echo', template: 'two' });
      await create(from.call, 'PUT', '/prompts/p/labels/production', { version: 2 });
      const exported = path.join(folder, 'exported');
      await exportWorkspace(exported, from.destination);

      const to = await newWorkspace(folder);
      await create(to.call, 'POST', '/prompts', { name: 'p', model: 'sandbox/echo', template: 'one' });
      await create(to.call, 'POST', '/prompts', { name: 'p', model: 'sandbox/echo', template: 'their own' });
      await create(to.call, 'PUT', '/prompts/p/labels/production', { version: 2 });
      await create(to.call, 'DELETE', '/prompts/p');
      const { steps, report, failed } = await runImport('pms', exported, to);
      expect(failed).toEqual([]);
      expect(steps).toEqual([
        'prompt p: restored',
        'prompt p: version 3',
        'prompt p: label production at version 3, moved from version 2',
      ]);
      expect(report).toEqual([
        'prompt p: taken with a change: version 2 is version 3 in this workspace, which already has other versions',
      ]);
      expect((await runImport('pms', exported, to)).steps).toEqual([]);
    });
  });

  test('skips what the service refuses, and has the rest', async () => {
    await withFolder(async (folder) => {
      const from = await newWorkspace(folder);
      for (const name of ['bad', 'good'])
        await create(from.call, 'POST', '/prompts', {
          name,
          model: 'sandbox/echo',
          template: 'x',
          fallback_models: ['sandbox/fail'],
        });
      const exported = path.join(folder, 'exported');
      await exportWorkspace(exported, from.destination);
      const file = path.join(exported, 'prompts/bad@1.yaml');
      await writeFile(file, (await readFile(file, 'utf8')).replace('sandbox/fail', 'nobody/knows-it'));

      const to = await newWorkspace(folder);
      const { failed, done } = await runImport('pms', exported, to);
      expect(failed.map(({ message }) => message)).toEqual([expect.stringContaining('fallback_models.0')]);
      expect(done).toBe(1);
    });
  });

  test('a dry run writes nothing', async () => {
    await withFolder(async (folder) => {
      const to = await newWorkspace(folder);
      const steps = await planImport(
        await readSource('langfuse', fixture('langfuse'), importSettings()),
        to.destination,
      );
      expect(steps.length).toBeGreaterThan(3);
      expect((await to.call('GET', '/prompts?archived=all')).body.data).toEqual([]);
      expect((await to.call('GET', '/events')).body.data).toEqual([]);
    });
  });

  test.each(['langfuse', 'promptfoo', 'openai-evals', 'langsmith', 'humanloop'])(
    'items of %s are accepted as planned, and not taken twice',
    async (source) => {
      await withFolder(async (folder) => {
        const to = await newWorkspace(folder);
        const { failed, done, steps } = await runImport(source, fixture(source), to);
        expect(failed).toEqual([]);
        expect(done).toBe(steps.length);
        for (const step of steps.filter((line) => line.startsWith('evaluation'))) {
          const name = step.slice('evaluation '.length, step.indexOf(':'));
          const definition = JSON.parse(await readFile(path.join(folder, 'evaluations', `${name}.json`), 'utf8'));
          // Judges have no key here: the service may report only that.
          const judged = definition.evaluators.some(({ type }: { type: string }) => type === 'llm_judge');
          const { status, body } = await to.call('POST', '/evaluations', {
            body: { ...definition, start_at: '2099-01-01T00:00:00Z' },
          });
          if (status !== 201) expect(body.error.message).toMatch(/API_KEY/);
          expect(judged || status === 201 || /API_KEY/.test(body.error.message)).toBe(true);
        }
        const again = await runImport(source, fixture(source), to);
        expect(again.steps.filter((line) => !line.startsWith('evaluation'))).toEqual([]);
      });
    },
  );
});

describe('an incomplete export', () => {
  test('is refused with the missing part', async () => {
    await withFolder(async (folder) => {
      const from = await newWorkspace(folder);
      await create(from.call, 'POST', '/prompts', { name: 'p', model: 'sandbox/echo', template: 'one' });
      const exported = path.join(folder, 'exported');
      await exportWorkspace(exported, from.destination);
      await expect(exportWorkspace(exported, from.destination)).rejects.toThrow('is not empty');
      const index = path.join(exported, 'workspace.json');
      const whole = await readFile(index, 'utf8');
      const read = () => readSource('pms', exported, importSettings());

      await writeFile(index, whole.replace('"file": "prompts/p"', '"file": "../../etc/p"'));
      await expect(read()).rejects.toThrow('is missing');
      await writeFile(index, whole.replace('pms-export/1', 'pms-export/9'));
      await expect(read()).rejects.toThrow('format must be "pms-export/1"');
      await writeFile(index, whole.replace('"labels": {}', '"labels": { "production": 7 }'));
      await expect(read()).rejects.toThrow('points at version 7');
      await writeFile(index, whole);
      await writeFile(path.join(exported, 'prompts/p@1.yaml'), 'name: p\nmodel: m\ntemplte: x\n');
      await expect(read()).rejects.toThrow('p@1.yaml:3: templte is not a known field');
      await rm(index);
      await expect(read()).rejects.toThrow('has no workspace.json');
    });
  });
});
