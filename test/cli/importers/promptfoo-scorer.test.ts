import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readSource } from '../../../cli/src/importers/import-source.ts';
import type { Import } from '../../../cli/src/importers/model.ts';
import { formatReportLine } from '../../../cli/src/importers/report.ts';
import { importSettings } from '../../../cli/src/importers/settings.ts';
import { signatureHeaders } from '../../../src/domain/webhooks/webhook-signature.ts';
import { EvaluatorConfig } from '../../../src/evaluators/registry.ts';
import { fixture, withFolder } from './support.ts';

const SECRET = 'whsec_c2VjcmV0LXRoYXQtaXMtbG9uZy1lbm91Z2g='; // gitleaks:allow

async function importCode(url?: string): Promise<{ imported: Import; report: string[] }> {
  const settings = importSettings(undefined, { scorer: { url } });
  const imported = await readSource('promptfoo', fixture('promptfoo-code'), settings);
  return { imported, report: settings.report.lines.map(formatReportLine) };
}

/** The paths of its asserts, in the order of the configuration. */
const pathsOf = ({ evaluations }: Import) =>
  evaluations.flatMap(({ definition }) => definition.evaluators.map(({ url }) => new URL(String(url)).pathname));

describe('asserts with code', () => {
  test('become evaluators that call a written scorer', async () => {
    const { imported, report } = await importCode('https://scorer.example.com/checks/');
    const [evaluation] = imported.evaluations;
    expect(evaluation?.definition.evaluators).toHaveLength(6);
    for (const evaluator of evaluation?.definition.evaluators ?? []) {
      expect(evaluator).toMatchObject({
        type: 'http',
        url: expect.stringMatching(/^https:\/\/scorer\.example\.com\/checks\/[0-9a-f]{16}$/),
      });
      expect(EvaluatorConfig.safeParse(evaluator).error).toBeUndefined();
    }
    expect(report).toContain(
      'assert javascript: left out: there is no file "checks/none.js" in the folder of the configuration (test 2)',
    );
    expect([...(imported.project?.keys() ?? [])]).toEqual([
      'README.md',
      'package.json',
      'asserts.json',
      'files/package.json',
      'server.ts',
      'run-assert.ts',
      'run-python.ts',
      'files/checks/length.py',
      'files/checks/polite.cjs',
    ]);
  });

  test('have a placeholder until an address is named, and are stable', async () => {
    const [first, again] = [await importCode(), await importCode()];
    expect(first.imported.evaluations[0]?.definition.evaluators[0]?.['url']).toMatch(/^https:\/\/scorer\.invalid\//);
    expect(again.imported.project).toEqual(first.imported.project);
    expect(again.imported.evaluations).toMatchObject(
      first.imported.evaluations.map(({ definition }) => ({ definition })),
    );
  });

  test('are left out without a scorer', async () => {
    const settings = importSettings();
    const imported = await readSource('promptfoo', fixture('promptfoo-code'), settings);
    expect(imported.project).toBeUndefined();
    expect(settings.report.lines.map(formatReportLine)).toContainEqual(
      expect.stringContaining('it runs code: --scorer-project writes a scorer that does'),
    );
  });
});

describe('the scorer', () => {
  let child: ChildProcess;
  let base: string;
  let paths: string[];
  let stop: () => void;
  let ended: Promise<void>;
  beforeAll(async () => {
    const { imported } = await importCode();
    paths = pathsOf(imported);
    const held = Promise.withResolvers<void>();
    const ready = Promise.withResolvers<void>();
    stop = held.resolve;
    ended = withFolder(async (folder) => {
      for (const [name, text] of imported.project ?? []) {
        await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
        await writeFile(path.join(folder, name), text);
      }
      child = spawn(process.execPath, ['server.ts'], {
        cwd: folder,
        env: { PATH: process.env['PATH'], SCORER_SECRET: SECRET, PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      if (child.stdout === null) throw new Error('no output');
      const [line] = await once(createInterface(child.stdout), 'line');
      base = `http://127.0.0.1:${/\d+$/.exec(String(line))?.[0]}`;
      ready.resolve();
      await held.promise;
      child.kill('SIGTERM');
      await once(child, 'exit');
    });
    await Promise.race([ready.promise, ended]);
  });
  afterAll(async () => {
    stop();
    await ended;
  });

  function post(target: string, body: string, secret = SECRET, sentAt = new Date()): Promise<Response> {
    const headers = signatureHeaders({ body: Buffer.from(body), id: 'eval_1/0/x', sentAt, secrets: [secret] });
    return fetch(`${base}${target}`, { method: 'POST', headers, body });
  }

  const sent = (output: string) =>
    JSON.stringify({
      input: 'x',
      output,
      expected: null,
      variables: { customer_name: 'Ada', question: 'Where is it?' },
    });

  async function scoresOf(output: string): Promise<unknown[]> {
    const responses = await Promise.all(paths.map((target) => post(target, sent(output))));
    return Promise.all(responses.map((response) => response.json()));
  }

  test('runs JavaScript, Python, files, transforms and patterns', async () => {
    expect(await scoresOf('Hello')).toEqual([
      { score: 1, reason: null },
      { score: 1, reason: null },
      { score: 0, reason: 'Ada is to read "please"' },
      { score: 1, reason: null },
      { score: 1, reason: null },
      { score: 1, reason: null },
    ]);
    expect(await scoresOf('Hello World, please wait for a very long time')).toEqual([
      { score: 0, reason: 'the code returned false' },
      { score: 0, reason: 'too many words' },
      { score: 1, reason: null },
      { score: 1, reason: null },
      { score: 0, reason: 'equals does not hold' },
      { score: 0, reason: 'regex does not hold' },
    ]);
  });

  test('answers only the service', async () => {
    const [target = ''] = paths;
    expect((await post(target, sent('Hello'), 'another-secret-of-24-characters')).status).toBe(401);
    expect((await post(target, sent('Hello'), SECRET, new Date(Date.now() - 600_000))).status).toBe(401);
    expect((await fetch(`${base}${target}`, { method: 'POST', body: sent('Hello') })).status).toBe(401);
    expect((await post('/constructor', sent('Hello'))).status).toBe(404);
  });
});
